/** What the plans of the stages mean for each Release. Pure. */
import type { FailedCluster } from '../../../api/generated/types.ts';
import type { Standing } from '../cluster/stage-member.ts';
import { type Because, cut, MAX_MESSAGE, optional } from '../snapshot.ts';
import type { StagePlan } from '../stage/stage.ts';
import { countsOf, failedIn, soakEnd } from '../stage/verdict.ts';
import { isAfter, type Road, stageOf } from './order.ts';
import type { ReleaseFinding, StageFinding } from './status.ts';
import { isFinal } from './status.ts';

export function findingOf(
  road: Road,
  plans: readonly StagePlan[],
  roads: readonly Road[],
  now: Date,
): ReleaseFinding {
  const stages: StageFinding[] = [];
  let supersededBy: string | undefined;
  for (const [index, plan] of plans.entries()) {
    supersededBy ??= takenOverBy(road, plan, { index, plans, roads });
    stages.push(
      stageFinding(road, plan, { superseded: supersededBy !== undefined, before: plans[index - 1] }),
    );
  }
  const here = plans.filter(({ on }) => on === road);
  return {
    stages,
    failed: failedClusters(road, plans, now),
    ...optional('supersededBy', supersededBy),
    ...optional(
      'stalled',
      here.map(stalledBy).find((because) => because !== undefined),
    ),
  };
}

interface Neighbours {
  readonly index: number;
  readonly plans: readonly StagePlan[];
  readonly roads: readonly Road[];
}

/** The stage is on a newer commit, or will take a newer one next: this one is never begun there, or not gone on with. */
function takenOverBy(road: Road, plan: StagePlan, { index, plans, roads }: Neighbours): string | undefined {
  if (plan.on === road || isProvenIn(road, plan)) return undefined;
  const isReady = index === 0 || wasProvenIn(road, plans[index - 1]);
  const rivals = [plan.on, isReady ? plan.next?.road : undefined];
  return rivals.find((rival) => rival && isAfter(rival, road, roads))?.name;
}

function wasProvenIn(road: Road, plan: StagePlan | undefined): boolean {
  return plan !== undefined && isProvenIn(road, plan);
}

/** As it was written down, or in this very pass. */
export function isProvenIn(road: Road, { stage, on, left, verdict }: StagePlan): boolean {
  if (stageOf(road, stage.name)?.state === 'Proven') return true;
  if (left?.road === road) return left.verdict.state === 'Proven';
  return on === road && verdict?.state === 'Proven';
}

interface Around {
  readonly superseded: boolean;
  readonly before: StagePlan | undefined;
}

function stageFinding(road: Road, plan: StagePlan, around: Around): StageFinding {
  const { stage, on, left } = plan;
  const old = stageOf(road, stage.name);
  if (old && isFinal(old)) return old;
  if (on === road) return begun(road, plan);
  if (left?.road === road && left.verdict.state === 'Proven') {
    return { name: stage.name, state: 'Proven', clusters: countsOf(left.standings, road.commit) };
  }
  return notBegun(road, plan, around);
}

function begun(road: Road, { stage, standings, verdict }: StagePlan): StageFinding {
  return {
    name: stage.name,
    state: verdict?.state ?? 'Promoting',
    ...optional('soakUntil', soakEnd(standings)?.toISOString()),
    clusters: countsOf(standings, road.commit),
    ...optional('wait', verdict?.wait),
  };
}

function notBegun(
  road: Road,
  { stage, members, next }: StagePlan,
  { superseded, before }: Around,
): StageFinding {
  const { name } = stage;
  const clusters = { total: members.length, pending: members.length };
  const old = stageOf(road, name);
  if (superseded) return { name, state: 'Superseded', clusters: old?.clusters ?? clusters };
  if (next?.road === road) return { name, state: 'Waiting', clusters, wait: next.wait };
  if (before?.on !== road) return { name, state: 'Pending', clusters };
  const because = `stage ${before.stage.name} has not proven it yet`;
  const wait = {
    reason: 'StageBefore',
    because,
    blocker: { kind: 'Pipeline', name: road.release.spec.pipeline },
  };
  return { name, state: 'Waiting', clusters, wait };
}

/** Of the stages that it is on, as they are now; of others, as they were. */
function failedClusters(road: Road, plans: readonly StagePlan[], now: Date): readonly FailedCluster[] {
  const here = plans.filter(({ on }) => on === road);
  const names = new Set(here.flatMap(({ members }) => members.map(({ name }) => name)));
  const kept = (road.release.status?.failedClusters ?? []).filter(({ name }) => !names.has(name));
  const found = here.flatMap(({ stage, standings }) => {
    const failed = new Set(failedIn(standings));
    return standings
      .filter(({ member }) => failed.has(member.name))
      .map((standing) => failedCluster(standing, stage.name, now));
  });
  return [...kept, ...found];
}

function failedCluster({ member, reason, because }: Standing, stage: string, now: Date): FailedCluster {
  const { state, since } = member.before;
  const began = state === 'Failed' && since !== undefined ? since : now.toISOString();
  return { name: member.name, stage, reason, message: cut(because, MAX_MESSAGE), since: began };
}

/** What does not pass by itself. */
function stalledBy({ verdict, standings }: StagePlan): Because | undefined {
  if (!verdict || verdict.state === 'Proven') return undefined;
  if (verdict.state === 'Failed' || verdict.wait?.reason === 'TooManySkipped') return verdict.wait;
  const stuck = standings.find(({ position }) => position === 'Held' || position === 'Blocked');
  if (stuck) return stuck;
  const late = standings.find(
    ({ same, position, member }) => same && position !== 'Failed' && member.progress.failing,
  );
  return late && { ...late, because: `${late.member.name}: ${late.because}` };
}
