/** Plans the status to record for a cluster, and the target to set for it. Pure. */
import type { ClusterSync } from '../../../api/generated/types.ts';
import { pausedParts } from '../../../api/status/pauses.ts';
import { activeRollback } from '../../../api/status/rollbacks.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { ClusterTarget } from '../../cluster-report.ts';
import type { OrderedRelease } from '../release/order.ts';
import { mayReturn, rollbackReason, withRollbackEnd } from '../rollback.ts';
import type { StagePlan } from '../stage/stage.ts';
import { renamedSync, rolledBackSync, startedSync } from './assignment.ts';
import { wasProven } from './proofs.ts';
import { type RecordedState, stateSince, withReport } from './record.ts';
import type { ClusterRollout } from './rollout.ts';
import { ROLLOUT_STATES } from './rollout-state.ts';
import type { MemberContext, StageMember } from './stage-member.ts';

export interface ClusterPlan {
  readonly name: string;
  readonly stage?: string;
  readonly member: StageMember;
  /** The record of the cluster, which is written before `target` is set. */
  readonly sync: ClusterSync;
  readonly target: ClusterTarget;
  /** True if the cluster gets new content, or continues after it was away. */
  readonly starts: boolean;
  /** Why the cluster is in its state. */
  readonly why: Explanation;
}

export interface ClusterPlanContext {
  readonly pipeline: string;
  readonly paused: boolean;
  readonly context: MemberContext;
}

export function planClusters(plan: StagePlan, planContext: ClusterPlanContext): readonly ClusterPlan[] {
  return plan.members
    .filter(({ block }) => block?.reason !== 'ClusterContested')
    .map((member) => {
      const rollout = plan.rollouts.find((each) => each.member === member);
      const rolledBack = rolledBackRollout(member, rollout);
      if (rolledBack) return planRolledBack(rolledBack, plan.stage.name, planContext);
      return rollout && plan.current
        ? planRollout(rollout, plan, plan.current, planContext)
        : planWithoutCommit(member, plan.stage.name, planContext);
    });
}

/** Plans a cluster whose stage has no commit yet, or that belongs to no stage, or to two: it keeps its content and gets nothing new. */
export function planWithoutCommit(
  member: StageMember,
  stage: string | undefined,
  { context, ...planContext }: ClusterPlanContext,
): ClusterPlan {
  const { block } = member;
  const { sync } = member.progress;
  const why = block ?? noCommitReason(stage);
  const recordedAs = block
    ? ROLLOUT_STATES[block.state].recordedAs
    : ROLLOUT_STATES[sync.commit === undefined ? 'NotStarted' : 'Ahead'].recordedAs;
  const keeps = stage !== undefined && keepsContent(member) && canWrite(member, planContext.paused);
  const { now } = context;
  return assemble({
    member,
    stage,
    planContext,
    why,
    sync,
    now,
    state: recordedAs ?? 'Pending',
    starts: false,
    mode: keeps ? 'Apply' : 'Observe',
  });
}

function noCommitReason(stage: string | undefined): Explanation {
  return stage === undefined
    ? { reason: 'Unassigned', because: 'no stage of a Pipeline selects it: it is not synced' }
    : { reason: 'StageBefore', because: `stage ${stage} has no commit yet` };
}

/** The rollback of a cluster acts also while its stage has no commit. */
function rolledBackRollout(
  member: StageMember,
  rollout: ClusterRollout | undefined,
): (Explanation & Pick<ClusterRollout, 'member'>) | undefined {
  if (rollout) return rollout.state === 'RolledBack' ? rollout : undefined;
  const reason = member.block ? undefined : rollbackReason(member, undefined);
  return reason && { ...reason, member };
}

/** Plans a cluster that a person rolled back. The return is recorded before the first write, like every start. */
function planRolledBack(
  { member, reason, because, blocker }: Explanation & Pick<ClusterRollout, 'member'>,
  stage: string,
  { context, ...planContext }: ClusterPlanContext,
): ClusterPlan {
  const { sync: before } = member.progress;
  const { now } = context;
  const rollback = activeRollback(member.snapshot.cluster);
  const writes =
    rollback !== undefined && mayReturn(member, rollback) && canWrite(member, planContext.paused);
  const starts = writes && before.renderedDigest !== rollback.digest;
  return assemble({
    member,
    stage,
    planContext,
    starts,
    sync: starts ? rolledBackSync({ member }, rollback, planContext.pipeline, now) : before,
    why: { reason, because, ...optional('blocker', blocker) },
    state: 'Held',
    mode: writes ? 'Apply' : 'Observe',
    isRollback: true,
    // The cluster had this content before, as with a revert.
    provenBefore: true,
    now,
  });
}

function planRollout(
  rollout: ClusterRollout,
  { stage, starts: allStarts }: StagePlan,
  current: OrderedRelease,
  { context, ...planContext }: ClusterPlanContext,
): ClusterPlan {
  const { member, hasContent, reason, because, blocker } = rollout;
  const start = allStarts.get(member.name);
  const starts = start !== undefined;
  const next =
    starts && !hasContent
      ? startedSync(rollout, stage.name, current, context)
      : renamedSync(rollout, stage.name, current, context);
  const sync = withRollbackEnd(next, member, { ...current, digest: rollout.digest }, context.now);
  const writes = canWrite(member, planContext.paused) && (starts || keepsWriting(rollout));
  return assemble({
    member,
    stage: stage.name,
    planContext,
    starts,
    sync,
    why: { reason, because: start ?? because, ...optional('blocker', blocker) },
    state: recordedState(rollout),
    mode: writes ? 'Apply' : 'Observe',
    now: context.now,
    provenBefore: wasProven(sync, { history: context.history, cluster: member.name }),
  });
}

function recordedState({ state, member }: ClusterRollout): RecordedState {
  return ROLLOUT_STATES[state].recordedAs ?? member.recorded.state ?? 'Pending';
}

/**
 * Tells whether the cluster may be written. The inventory may name a newer commit than the record: until it was read, nothing is
 * written.
 */
function canWrite({ block, reachability, snapshot }: StageMember, paused: boolean): boolean {
  const isInventoryRead = snapshot.report?.commits !== undefined;
  return !paused && block === undefined && reachability.state === 'Reachable' && isInventoryRead;
}

/**
 * Tells whether a cluster that does not start now is written. Unfinished content of a replaced commit is left alone until the
 * cluster starts; finished or newer content is kept in sync.
 */
function keepsWriting({ state, hasContent, member }: ClusterRollout): boolean {
  if (state === 'Ahead') return keepsContent(member);
  if (hasContent) return state !== 'NotStarted';
  return member.progress.state === 'Proven';
}

/**
 * Tells whether the cluster keeps its content in sync. Content that another stage assigned but that was never started is not
 * started here.
 */
function keepsContent({ progress, hasStarted }: StageMember): boolean {
  return progress.state === 'Proven' || hasStarted;
}

interface ClusterDecision {
  readonly member: StageMember;
  readonly stage: string | undefined;
  readonly planContext: Omit<ClusterPlanContext, 'context'>;
  readonly why: Explanation;
  readonly state: RecordedState;
  readonly starts: boolean;
  readonly mode: ClusterTarget['mode'];
  readonly isRollback?: true;
  readonly sync: ClusterSync;
  readonly now: Date;
  readonly provenBefore?: boolean;
}

function assemble({
  member,
  stage,
  planContext,
  why,
  state,
  starts,
  mode,
  isRollback,
  sync,
  now,
  provenBefore,
}: ClusterDecision): ClusterPlan {
  const { commit, renderedDigest } = sync;
  const since = stateSince(member, state, now);
  return {
    name: member.name,
    ...optional('stage', stage),
    member,
    sync: withReport({ ...sync, state, since, message: why.because }, member, now),
    target: {
      mode: renderedDigest === undefined ? 'Observe' : mode,
      pipeline: planContext.pipeline,
      because: why.because,
      ...optional('commit', commit),
      ...optional('digest', renderedDigest),
      ...optional('provenBefore', provenBefore || undefined),
      ...optional('isRollback', isRollback),
      ...pausedParts(member.snapshot.cluster, planContext.pipeline, now),
    },
    starts,
    why,
  };
}
