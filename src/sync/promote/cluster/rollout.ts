/** Derives the state of one cluster towards one commit in its stage (rollout-state.ts), and why. Pure. */
import type { FailedDigest } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { EMPTY_TARGET } from '../../commits.ts';
import { rollbackReason } from '../rollback.ts';
import { failureOf, isProven, unitsToSoak } from './proofs.ts';
import type { ClusterRolloutState } from './rollout-state.ts';
import { isUnproven, type MemberContext, type StageMember } from './stage-member.ts';

export interface ClusterRollout extends Explanation {
  readonly member: StageMember;
  readonly state: ClusterRolloutState;
  /** True if the cluster runs the content of the commit, whichever commit brought that. */
  readonly hasContent: boolean;
  readonly digest: string | undefined;
  /** True if the cluster answers again, and others use all slots of its stage: it has to get one. */
  readonly hasLostSlot?: boolean;
}

export function clusterRollout(member: StageMember, commit: string, context: MemberContext): ClusterRollout {
  const content = commitContent(member, commit, context);
  const exception =
    blocked(member) ??
    rolledBack(content) ??
    emptied(content, commit) ??
    failed(content, context) ??
    ahead(content, commit, context);
  const isRendered = context.history.commit(commit)?.targets !== undefined;
  return { ...content, ...(exception ?? unreachable(member) ?? inProgress(content, isRendered)) };
}

type CommitContent = Pick<ClusterRollout, 'member' | 'hasContent' | 'digest'>;
type ExplainedState = Explanation & Pick<ClusterRollout, 'state'>;

function commitContent(member: StageMember, commit: string, { history }: MemberContext): CommitContent {
  const { sync } = member.progress;
  const target = history.target(commit, member.name);
  if (target) return { member, hasContent: sync.renderedDigest === target.digest, digest: target.digest };
  const hasContent = sync.commit === commit;
  return { member, hasContent, digest: hasContent ? sync.renderedDigest : undefined };
}

function blocked({ block }: StageMember): ExplainedState | undefined {
  return block;
}

/** A person decided what the cluster runs: until git agrees, the commit counts as failed here. */
function rolledBack({ member, digest }: CommitContent): ExplainedState | undefined {
  const reason = rollbackReason(member, digest);
  return reason && { ...reason, state: 'RolledBack' };
}

/**
 * A cluster that was never assigned anything has objects: it was registered under another name. That the commit declares nothing
 * for this name is a mistake, and not a plan that a person could acknowledge.
 */
function emptied({ member, digest }: CommitContent, commit: string): ExplainedState | undefined {
  const { name, recorded, snapshot } = member;
  const [present] = snapshot.report?.commits ?? [];
  const isNew = recorded.renderedDigest === undefined && digest === EMPTY_TARGET.digest;
  if (!isNew || present === undefined) return undefined;
  return {
    state: 'Blocked',
    reason: 'NothingDeclared',
    because: `${commit} declares no objects for ${name}, which has objects of ${present}: declare them for ${name} (was clusters/${name} not renamed with the Cluster?)`,
    blocker: { kind: 'Cluster', name },
  };
}

/** A failure counts also while its cluster cannot be observed; otherwise an outage would refill the failure budget. */
function failed(
  { member, hasContent, digest }: CommitContent,
  { acknowledged }: MemberContext,
): ExplainedState | undefined {
  const { progress, name } = member;
  if (hasContent) {
    return progress.state === 'Failed' ? { ...explanationOf(progress), state: 'Failed' } : undefined;
  }
  const failure = digest === undefined ? undefined : failureOf(progress.sync, digest);
  if (!failure || mayStartAgain(failure, acknowledged)) return undefined;
  return {
    state: 'FailedBefore',
    reason: failure.reason ?? 'Failed',
    because: `this content already failed on this cluster with ${failure.commit}: ${failure.message ?? ''}`,
    blocker: { kind: 'Cluster', name },
  };
}

/**
 * Tells whether content that failed here may start again. What was proven here may have failed for what happened around it: a
 * revert to it is carried out, and soaks again.
 */
function mayStartAgain({ digest, provenAt }: FailedDigest, acknowledged: ReadonlySet<string>): boolean {
  return provenAt !== undefined || acknowledged.has(digest);
}

/**
 * Returns the state of a cluster that runs a newer commit, from another stage or from before the hub was restored: it is never
 * rolled back.
 */
function ahead(
  { member, hasContent }: CommitContent,
  commit: string,
  { history }: MemberContext,
): ExplainedState | undefined {
  const running = member.progress.sync.commit;
  if (hasContent || running === undefined || history.order(running) <= history.order(commit)) {
    return undefined;
  }
  return { state: 'Ahead', reason: 'Ahead', because: `it runs ${running}, which is newer` };
}

function unreachable({ name, reachability, snapshot }: StageMember): ExplainedState | undefined {
  const blocker = { kind: 'Cluster', name };
  if (reachability.state === 'Reachable') return undefined;
  if (reachability.state === 'Unknown') {
    return { state: 'NotObserved', reason: 'NotSeen', because: `${name} was not observed yet`, blocker };
  }
  const { since, until, isGraceOver, isOverloaded } = reachability;
  const failure = snapshot.report?.failure?.message;
  const what = isOverloaded ? 'has refused work because of its load' : 'has not answered';
  const because = `${name} ${what} since ${since.toISOString()}${failure ? `: ${failure}` : ''}`;
  return isGraceOver
    ? { state: 'Skipped', reason: 'Unreachable', because, blocker }
    : { state: 'Unreachable', reason: 'Unreachable', because, blocker, until };
}

function inProgress({ member, hasContent, digest }: CommitContent, isRendered: boolean): ExplainedState {
  const { progress, name } = member;
  if (hasContent && progress.state !== 'NotStarted') {
    return { ...explanationOf(progress), state: progress.state };
  }
  if (digest !== undefined) {
    return { state: 'NotStarted', reason: 'Pending', because: 'waits for a slot' };
  }
  return isRendered
    ? {
        state: 'NotDeclared',
        reason: 'NotDeclared',
        because: `the commit does not declare Cluster ${name}: waiting for a newer one`,
      }
    : {
        state: 'NotRendered',
        reason: 'NotRendered',
        because: `the commit is not rendered for ${name} any more`,
      };
}

function explanationOf({ reason, because, blocker, until }: Explanation): Explanation {
  return { reason, because, ...optional('blocker', blocker), ...optional('until', until) };
}

const HAS_NO_SLOT: ReadonlySet<ClusterRolloutState> = new Set(['Paused', 'UnitPaused', 'Skipped', 'Removed']);

/** Tells whether the cluster uses a slot of its stage. A paused or skipped cluster does not: its slot is free until it returns. */
export function usesSlot({ member, hasContent, state, hasLostSlot = false }: ClusterRollout): boolean {
  return hasContent && isUnproven(member) && !HAS_NO_SLOT.has(state) && hadSlot(member) && !hasLostSlot;
}

/**
 * Tells whether the cluster has got a slot already. A cluster that lost its slot while it was away, or whose content was adopted
 * from its inventory, has to get a slot. One that was ahead and is being written uses one as soon as its stage reaches that
 * commit.
 */
function hadSlot({ recorded, progress, hasStarted }: StageMember): boolean {
  const { state, renderedDigest } = recorded;
  if (renderedDigest !== progress.sync.renderedDigest) return false;
  if (state === 'Ahead') return hasStarted;
  return state === 'Applying' || state === 'Soaking' || state === 'Held' || state === 'Unreachable';
}

/** S33: tells whether no unit of the commit would have to soak here, because each returns to proven content. */
export function skipsSoak(
  { member, hasContent, digest }: ClusterRollout,
  commit: string,
  { history }: MemberContext,
): boolean {
  const { sync } = member.progress;
  if (hasContent) return member.progress.state === 'Proven';
  if (digest === undefined || failureOf(sync, digest)) return false;
  if (isProven(sync, digest)) return true;
  const target = history.target(commit, member.name);
  return target !== undefined && unitsToSoak(sync, target, { history, cluster: member.name }).length === 0;
}
