/** Derives what the plans of the stages mean for one Release. Pure. */
import type { FailedCluster } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { ClusterRollout } from '../cluster/rollout.ts';
import { countClusters, failedClusters, stageSoakEnd } from '../stage/rollout.ts';
import type { StagePlan } from '../stage/stage.ts';
import { isNewer, type OrderedRelease, recordedStage } from './order.ts';
import { isFinal, type ReleaseFinding, type StageFinding } from './status.ts';

export function releaseFinding(
  release: OrderedRelease,
  plans: readonly StagePlan[],
  releases: readonly OrderedRelease[],
  now: Date,
): ReleaseFinding {
  const stages: StageFinding[] = [];
  let supersededBy: string | undefined;
  for (const [index, plan] of plans.entries()) {
    const before = plans[index - 1];
    supersededBy ??= supersedingRelease(release, plan, { before, isFirst: index === 0, releases });
    stages.push(stageFinding(release, plan, { superseded: supersededBy !== undefined, before }));
  }
  const current = plans.filter((plan) => plan.current === release);
  return {
    stages,
    failed: failedIn(release, plans, now),
    ...optional('supersededBy', supersededBy),
    ...optional(
      'stalled',
      current.map(stalledBy).find((explanation) => explanation !== undefined),
    ),
  };
}

interface SupersedeContext {
  readonly before: StagePlan | undefined;
  readonly isFirst: boolean;
  readonly releases: readonly OrderedRelease[];
}

/** Returns the newer Release that the stage is on, or takes next: the stage never starts this one, or does not finish it. */
function supersedingRelease(
  release: OrderedRelease,
  plan: StagePlan,
  { before, isFirst, releases }: SupersedeContext,
): string | undefined {
  if (plan.current === release || isProvenIn(release, plan)) return undefined;
  const isCandidate = isFirst || (before !== undefined && isProvenIn(release, before));
  const others = [plan.current, isCandidate ? plan.waiting?.release : undefined];
  return others.find((other) => other && isNewer(other, release, releases))?.name;
}

/** Tells whether the stage has proven the Release, as recorded or in this reconcile. */
function isProvenIn(release: OrderedRelease, { stage, current, replaced, rollout }: StagePlan): boolean {
  if (recordedStage(release, stage.name)?.state === 'Proven') return true;
  if (replaced?.release === release) return replaced.rollout.state === 'Proven';
  return current === release && rollout?.state === 'Proven';
}

interface StageContext {
  readonly superseded: boolean;
  readonly before: StagePlan | undefined;
}

function stageFinding(release: OrderedRelease, plan: StagePlan, context: StageContext): StageFinding {
  const { stage, current, replaced } = plan;
  const old = recordedStage(release, stage.name);
  if (old && isFinal(old)) return old;
  if (current === release) return started(release, plan);
  if (replaced?.release === release && replaced.rollout.state === 'Proven') {
    return { name: stage.name, state: 'Proven', clusters: countClusters(replaced.rollouts, release.commit) };
  }
  return notStarted(release, plan, context);
}

function started({ commit }: OrderedRelease, { stage, rollouts, rollout }: StagePlan): StageFinding {
  return {
    name: stage.name,
    state: rollout?.state ?? 'Promoting',
    ...optional('soakUntil', stageSoakEnd(rollouts)?.toISOString()),
    clusters: countClusters(rollouts, commit),
    ...optional('wait', rollout?.wait),
  };
}

function notStarted(
  release: OrderedRelease,
  { stage, members, waiting }: StagePlan,
  { superseded, before }: StageContext,
): StageFinding {
  const { name } = stage;
  const declared = members.filter(({ block }) => block?.state !== 'Removed').length;
  const clusters = { total: declared, pending: declared };
  const old = recordedStage(release, name);
  if (superseded) return { name, state: 'Superseded', clusters: old?.clusters ?? clusters };
  if (waiting?.release === release) return { name, state: 'Waiting', clusters, wait: waiting.wait };
  if (before?.current !== release) return { name, state: 'Pending', clusters };
  const because = `stage ${before.stage.name} has not proven it yet`;
  const wait = {
    reason: 'StageBefore',
    because,
    blocker: { kind: 'Pipeline', name: release.release.spec.pipeline },
  };
  return { name, state: 'Waiting', clusters, wait };
}

/** Lists the failed clusters: in stages that are on the Release, as of now; in the others, as recorded. */
function failedIn(release: OrderedRelease, plans: readonly StagePlan[], now: Date): readonly FailedCluster[] {
  const current = plans.filter((plan) => plan.current === release);
  const names = new Set(current.flatMap(({ members }) => members.map(({ name }) => name)));
  const kept = (release.release.status?.failedClusters ?? []).filter(({ name }) => !names.has(name));
  const found = current.flatMap(({ stage, rollouts }) => {
    const failed = new Set(failedClusters(rollouts));
    return rollouts
      .filter(({ member }) => failed.has(member.name))
      .map((rollout) => failedCluster(rollout, stage.name, now));
  });
  return [...kept, ...found];
}

function failedCluster({ member, reason, because }: ClusterRollout, stage: string, now: Date): FailedCluster {
  const { state, since } = member.recorded;
  const failedSince = state === 'Failed' && since !== undefined ? since : now.toISOString();
  return { name: member.name, stage, reason, message: because, since: failedSince };
}

/** Returns the state of the stage that only a person or a newer commit ends. */
function stalledBy({ rollout, rollouts }: StagePlan): Explanation | undefined {
  if (!rollout || rollout.state === 'Proven') return undefined;
  if (rollout.state === 'Failed' || rollout.wait?.reason === 'TooManySkipped') return rollout.wait;
  const held = rollouts.find(({ state }) => state === 'Held' || state === 'Blocked');
  if (held) return held;
  const late = rollouts.find(
    ({ hasContent, state, member }) => hasContent && state !== 'Failed' && member.progress.failing,
  );
  return late && { ...late, because: `${late.member.name}: ${late.because}` };
}
