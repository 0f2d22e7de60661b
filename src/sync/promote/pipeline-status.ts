/** The status of a Pipeline: its head, its stages, and what keeps the head from the last of them. Pure. */
import type { PipelineHead, PipelineStageStatus, PipelineStatus, Wait } from '../../api/generated/types.ts';
import { pipelinePhases } from '../../api/phases.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import type { HeadReport } from '../commits.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import { type Road, stageOf } from './release/order.ts';
import { yesNo } from './release/status.ts';
import { type Because, cut, MAX_MESSAGE, MAX_NAMES, optional, type World } from './snapshot.ts';
import type { StagePlan } from './stage/stage.ts';
import { countsOf } from './stage/verdict.ts';
import { waitFor } from './wait.ts';

export interface PipelineSight {
  readonly world: World;
  readonly head: HeadReport;
  readonly stages: readonly StagePlan[];
  readonly clusters: readonly ClusterPlan[];
  readonly roads: readonly Road[];
}

export function pipelineStatus(sight: PipelineSight): PipelineStatus {
  const { world, stages, clusters } = sight;
  const { pipeline, now, commits } = world;
  const newest = commits.at(-1)?.id;
  const waiting = waitOf(sight);
  const observedGeneration = optional('observedGeneration', pipeline.metadata.generation);
  const said = findingsOf(sight, waiting).map((finding) => ({ ...finding, ...observedGeneration }));
  const conditions = withConditions(pipeline.status?.conditions, said, now);
  const states = clusters.map(({ sync }) => sync);
  return {
    ...observedGeneration,
    phase: pipelinePhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', waiting),
    head: headOf(sight),
    stages: stages.map((plan) => stageStatus(plan, sight)),
    clusters: {
      total: clusters.length,
      proven: states.filter(({ commit, state }) => commit === newest && state === 'Proven').length,
      failed: states.filter(({ state }) => state === 'Failed').length,
      unassigned: clusters.filter(({ stage, member }) => stage === undefined && !member.block).length,
    },
  };
}

function headOf({ head }: PipelineSight): PipelineHead {
  return {
    ...optional('commit', head.commit),
    ...optional('seenAt', head.seenAt?.toISOString()),
    verdict: head.verdict,
    ...optional('message', head.message && cut(head.message, MAX_MESSAGE)),
  };
}

/**
 * A stage without clusters keeps what it had: that it had some once is what makes it hold (S38). For that, a stage with
 * clusters names a Release from the start: the one that is proven, or the one to come.
 */
function stageStatus(plan: StagePlan, { world, roads }: PipelineSight): PipelineStageStatus {
  const { name } = plan.stage;
  const old = world.pipeline.status?.stages?.find((each) => each.name === name);
  if (plan.members.length === 0) return { ...old, name, clusters: { ...old?.clusters, total: 0 } };
  const fields = plan.proven ? provenFields(plan.proven, name, world.now) : {};
  return {
    name,
    clusters: countsFor(plan),
    ...optional('release', (plan.on ?? roads.at(-1))?.name),
    ...fields,
  };
}

function provenFields(proven: Road, stage: string, now: Date): Partial<PipelineStageStatus> {
  const provenAt = stageOf(proven, stage)?.provenAt ?? now.toISOString();
  return { commit: proven.commit, release: proven.name, provenAt };
}

function countsFor({ members, standings, on }: StagePlan): NonNullable<PipelineStageStatus['clusters']> {
  const { proven = 0, failed = 0 } = on ? countsOf(standings, on.commit) : {};
  const unreachable = members.filter(({ reach }) => reach.state === 'Lost' || reach.state === 'Unreachable');
  return { total: members.length, proven, failed, unreachable: unreachable.length };
}

/** What keeps the head from the next stage: the first thing on its way. */
function waitOf({ world, stages }: PipelineSight): Wait | undefined {
  const first = stages.flatMap(({ verdict, next }) => verdict?.wait ?? next?.wait ?? []).at(0);
  return first && waitFor(world.pipeline.status?.waiting, first, world.now);
}

function findingsOf(sight: PipelineSight, waiting: Wait | undefined): readonly ConditionUpdate[] {
  return [
    progress(sight, waiting),
    promoted(sight, waiting),
    ...sourceFindings(sight),
    held(sight),
    stalled(sight),
  ];
}

function promoted({ world, stages }: PipelineSight, waiting: Wait | undefined): ConditionUpdate {
  const newest = world.commits.at(-1)?.id;
  if (newest !== undefined && stages.at(-1)?.proven?.commit === newest) {
    return {
      type: 'Promoted',
      status: 'True',
      reason: 'Proven',
      message: `${newest} is proven in the last stage`,
    };
  }
  const { reason, message } = { reason: 'Waiting', message: 'the head is on its way', ...waiting };
  return { type: 'Promoted', status: 'False', reason, message };
}

function progress({ world }: PipelineSight, waiting: Wait | undefined): ConditionUpdate {
  if (world.pipeline.spec.paused) {
    return {
      type: 'Progressing',
      status: 'False',
      reason: 'Paused',
      message: 'spec.paused: nothing is written',
    };
  }
  const message = waiting?.message ?? 'nothing waits';
  return { type: 'Progressing', status: 'True', reason: waiting?.reason ?? 'AllDone', message };
}

/** A head that is not trusted was not judged any further: nothing is said about how it renders. */
function sourceFindings({ head }: PipelineSight): readonly ConditionUpdate[] {
  const trusted = head.verdict !== 'NotDescendant' && head.verdict !== 'BadSignature';
  return [sourceReady(head, trusted), ...(trusted ? [rendered(head)] : [])];
}

function sourceReady({ unread, verdict, message }: HeadReport, trusted: boolean): ConditionUpdate {
  const type = 'SourceReady';
  if (unread !== undefined) return { type, status: 'Unknown', reason: 'Stale', message: unread };
  return trusted
    ? { type, status: 'True', reason: 'Accepted', message: 'the ref was read, and is accepted' }
    : { type, status: 'False', reason: verdict, message: message ?? verdict };
}

function rendered({ verdict, message }: HeadReport): ConditionUpdate {
  const type = 'Rendered';
  return verdict === 'Accepted'
    ? { type, status: 'True', reason: 'Rendered', message: 'the head renders' }
    : { type, status: 'False', reason: verdict, message: message ?? verdict };
}

function held({ clusters }: PipelineSight): ConditionUpdate {
  const names = clusters.filter(({ member }) => member.progress.trial === 'Held');
  const [first] = names;
  const list = names.slice(0, MAX_NAMES).map(({ name }) => name);
  return yesNo('Held', first !== undefined, {
    reason: 'PlanHeld',
    yes: `${list.join(', ')}: ${first?.member.progress.because ?? ''}`,
    no: 'no plan is held',
  });
}

/** It needs a person: a budget is spent, a limit passed, or a cluster is claimed twice or by nobody. */
function stalled({ stages }: PipelineSight): ConditionUpdate {
  const reasons: ReadonlySet<string> = new Set(['FailureBudgetSpent', 'TooManySkipped', 'NoClusters']);
  const found = stages.flatMap(({ verdict, next, standings }): Because[] => [
    ...(verdict?.wait && reasons.has(verdict.wait.reason) ? [verdict.wait] : []),
    ...(next && (reasons.has(next.wait.reason) || next.wait.reason === 'ClusterUnassigned')
      ? [next.wait]
      : []),
    ...standings.filter(({ position }) => position === 'Blocked'),
  ]);
  const [first] = found;
  return first
    ? { type: 'Stalled', status: 'True', reason: first.reason, message: first.because }
    : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'it goes on by itself' };
}
