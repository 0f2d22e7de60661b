/** The status of a Pipeline: its head, its stages, and why the head is not in the last stage yet. Pure. */
import type {
  Pipeline,
  PipelineHead,
  PipelineStageStatus,
  PipelineStatus,
  Wait,
} from '../../api/generated/types.ts';
import { pausedReason } from '../../api/status/pauses.ts';
import { pipelinePhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import type { HeadReport } from '../commits.ts';
import { MAX_NAMES } from './bounds.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import { deleteHold } from './cluster/stage-member.ts';
import { nextRefusals } from './history/refusals.ts';
import { type OrderedRelease, recordedStage } from './release/order.ts';
import { booleanFinding } from './release/status.ts';
import type { PromotionInput } from './snapshot.ts';
import { hubFinding, renderingWait, sourceFindings, sourceProblem } from './source-findings.ts';
import { countClusters } from './stage/rollout.ts';
import type { StagePlan } from './stage/stage.ts';
import { waitFor } from './wait.ts';

export interface PipelineStatusInput {
  readonly snapshot: PromotionInput;
  readonly head: HeadReport;
  readonly stages: readonly StagePlan[];
  readonly clusters: readonly ClusterPlan[];
  readonly releases: readonly OrderedRelease[];
}

export function pipelineStatus(input: PipelineStatusInput): PipelineStatus {
  const { snapshot, stages, clusters } = input;
  const { pipeline, now, commits } = snapshot;
  const newest = commits.at(-1)?.id;
  const waiting = firstWait(input);
  const observedGeneration = optional('observedGeneration', pipeline.metadata.generation);
  const { generation } = pipeline.metadata;
  const findings = findingsOf(input, waiting);
  const conditions = withConditions(keptConditions(pipeline), findings, now, generation);
  const records = clusters.map(({ sync }) => sync);
  return {
    ...observedGeneration,
    phase: pipelinePhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', waiting),
    head: headStatus(input),
    ...optional('refused', nextRefusals(pipeline.status?.refused, input.head, now)),
    stages: stages.map((plan) => stageStatus(plan, input)),
    clusters: {
      total: clusters.length,
      proven: records.filter(({ commit, state }) => commit === newest && state === 'Proven').length,
      failed: records.filter(({ state }) => state === 'Failed').length,
      unassigned: clusters.filter(({ stage, member }) => stage === undefined && !member.block).length,
    },
  };
}

/** Returns the status while nothing can be promoted: what was found at the head, and the rest as recorded. */
export function sourceStatus(pipeline: Pipeline, head: HeadReport, now: Date): PipelineStatus {
  const before: Partial<PipelineStatus> = ownPipelineStatus(pipeline.status) ?? {};
  const observedGeneration = optional('observedGeneration', pipeline.metadata.generation);
  const problem = sourceProblem(head);
  const findings = [
    ...notPromoted(head),
    ...sourceFindings(head),
    ...(head.hub ? [hubFinding(head.hub)] : []),
  ];
  const conditions = withConditions(keptConditions(pipeline), findings, now, pipeline.metadata.generation);
  return {
    ...before,
    ...observedGeneration,
    phase: pipelinePhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', problem && waitFor(before.waiting, problem, now)),
    head: head.unopened ? { ...headStatus({ head }), ...before.head } : headStatus({ head }),
    ...optional('refused', nextRefusals(before.refused, head, now)),
  };
}

/** Returns the part of a status that promotion owns, to compare it with what it would write: other field managers own the rest. */
export function ownPipelineStatus(status: PipelineStatus | undefined): PipelineStatus | undefined {
  if (!status) return undefined;
  const { webhook: _w, commitStatuses: _s, planComments: _p, reverts: _r, ...own } = status;
  return own;
}

/** Leaves out the conditions of what git removed: a webhook, commit statuses, plans of pull requests, reverts. */
function keptConditions({ spec, status }: Pipeline): PipelineStatus['conditions'] {
  const { webhookSecretRef, statusCredentialsRef, planComments } = spec.source;
  const removed = [
    ...(webhookSecretRef ? [] : ['WebhookReady']),
    ...(statusCredentialsRef ? [] : ['CommitStatusReady']),
    ...(planComments ? [] : ['PlanCommentsReady']),
    ...(spec.onFailure === 'Stop' ? ['RevertReady'] : []),
  ];
  return (status?.conditions ?? []).filter(({ type }) => !removed.includes(type));
}

function headStatus({ head }: Pick<PipelineStatusInput, 'head'>): PipelineHead {
  return {
    ...optional('commit', head.commit),
    ...optional('seenAt', head.observedAt?.toISOString()),
    verdict: head.verdict,
    ...optional('message', head.message),
    ...optional('polledFor', head.polledFor),
  };
}

/**
 * A stage without clusters keeps its status, which records that it had clusters once, so that it holds (S38). For that, a
 * stage with clusters names a Release from the start: the one that it is on, or the newest.
 */
function stageStatus(plan: StagePlan, { snapshot, releases }: PipelineStatusInput): PipelineStageStatus {
  const { name } = plan.stage;
  const old = snapshot.pipeline.status?.stages?.find((each) => each.name === name);
  if (plan.members.length === 0) return { ...old, name, clusters: { ...old?.clusters, total: 0 } };
  return {
    name,
    clusters: stageCounts(plan),
    ...optional('release', (plan.current ?? releases.at(-1))?.name),
    ...(plan.proven ? provenFields(plan.proven, name, snapshot.now) : {}),
  };
}

function provenFields(proven: OrderedRelease, stage: string, now: Date): Partial<PipelineStageStatus> {
  const provenAt = recordedStage(proven, stage)?.provenAt ?? now.toISOString();
  return { commit: proven.commit, release: proven.name, provenAt };
}

function stageCounts({
  members,
  rollouts,
  current,
}: StagePlan): NonNullable<PipelineStageStatus['clusters']> {
  const { proven = 0, failed = 0 } = current ? countClusters(rollouts, current.commit) : {};
  const unreachable = members.filter(({ reachability: { state } }) => state === 'Unreachable');
  return { total: members.length, proven, failed, unreachable: unreachable.length };
}

/** The first thing that the head waits for: its render, then its way through the stages. */
function firstWait({ snapshot, stages, head }: PipelineStatusInput): Wait | undefined {
  const first =
    renderingWait(head) ??
    stages.flatMap(({ rollout, waiting }) => rollout?.wait ?? waiting?.wait ?? []).at(0);
  return first && waitFor(snapshot.pipeline.status?.waiting, first, snapshot.now);
}

function findingsOf(input: PipelineStatusInput, waiting: Wait | undefined): readonly ConditionUpdate[] {
  const isRendering = input.head.verdict === 'Rendering';
  return [
    progressing(input, waiting),
    ...(isRendering ? notPromoted(input.head) : [promoted(input, waiting)]),
    ...sourceFindings(input.head),
    held(input),
    stalled(input),
  ];
}

function promoted({ snapshot, stages }: PipelineStatusInput, waiting: Wait | undefined): ConditionUpdate {
  const newest = snapshot.commits.at(-1)?.id;
  if (newest !== undefined && stages.at(-1)?.proven?.commit === newest) {
    return {
      type: 'Promoted',
      status: 'True',
      reason: 'Proven',
      message: `${newest} is proven in the last stage`,
    };
  }
  const { reason, message } = { reason: 'Waiting', message: 'the head is being promoted', ...waiting };
  return { type: 'Promoted', status: 'False', reason, message };
}

/** Proofs of earlier commits do not cover a head that is not rendered yet. */
function notPromoted({ verdict }: HeadReport): readonly ConditionUpdate[] {
  if (verdict !== 'Rendering') return [];
  return [{ type: 'Promoted', status: 'False', reason: verdict, message: 'the head is not rendered yet' }];
}

function progressing({ snapshot }: PipelineStatusInput, waiting: Wait | undefined): ConditionUpdate {
  const paused = pausedReason(snapshot.pipeline);
  if (paused !== undefined) {
    return { type: 'Progressing', status: 'False', reason: 'Paused', message: paused };
  }
  const message = waiting?.message ?? 'nothing waits';
  return { type: 'Progressing', status: 'True', reason: waiting?.reason ?? 'AllDone', message };
}

function held({ clusters, head }: PipelineStatusInput): ConditionUpdate {
  if (head.hub?.state === 'Held') return hubFinding(head.hub);
  const found = clusters.flatMap(({ name, member, sync }) => {
    const because = deleteHold(member, sync)?.because;
    return because === undefined ? [] : [{ name, because }];
  });
  const [first] = found;
  const names = found.slice(0, MAX_NAMES).map(({ name }) => name);
  return booleanFinding('Held', first !== undefined, {
    reason: 'PlanHeld',
    yes: `${names.join(', ')}: ${first?.because ?? ''}`,
    no: 'no plan is held',
  });
}

/** A person has to act: a budget is spent, a limit is exceeded, or a cluster is blocked or belongs to no stage. */
const STALLING_REASONS: ReadonlySet<string> = new Set(['FailureBudgetSpent', 'TooManySkipped', 'NoClusters']);

function stalled({ stages, head }: PipelineStatusInput): ConditionUpdate {
  if (head.hub?.state === 'Failed') return hubFinding(head.hub);
  const [first] = stages.flatMap(({ rollout, waiting, rollouts }): Explanation[] => [
    ...(rollout?.wait && STALLING_REASONS.has(rollout.wait.reason) ? [rollout.wait] : []),
    ...(waiting && (STALLING_REASONS.has(waiting.wait.reason) || waiting.wait.reason === 'ClusterUnassigned')
      ? [waiting.wait]
      : []),
    ...rollouts.filter(({ state }) => state === 'Blocked'),
  ]);
  return first
    ? { type: 'Stalled', status: 'True', reason: first.reason, message: first.because }
    : { type: 'Stalled', status: 'False', reason: 'NotStalled', message: 'no action required' };
}
