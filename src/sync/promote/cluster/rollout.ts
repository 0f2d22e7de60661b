/** The state of one cluster towards one commit in its stage (rollout-state.ts), and why. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { failureOf, isProven, unitsToSoak } from './proofs.ts';
import type { ClusterRolloutState } from './rollout-state.ts';
import { isUnproven, type MemberContext, type StageMember } from './stage-member.ts';

export interface ClusterRollout extends Explanation {
  readonly member: StageMember;
  readonly state: ClusterRolloutState;
  /** It runs the content of the commit, whichever commit brought that. */
  readonly hasContent: boolean;
  readonly digest: string | undefined;
}

export function clusterRollout(member: StageMember, commit: string, context: MemberContext): ClusterRollout {
  const content = commitContent(member, commit, context);
  const exception = blocked(member) ?? failed(content, context) ?? ahead(content, commit, context);
  return { ...content, ...(exception ?? unreachable(member) ?? inProgress(content)) };
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
  if (!failure || acknowledged.has(failure.digest)) return undefined;
  return {
    state: 'FailedBefore',
    reason: failure.reason ?? 'Failed',
    because: `this content already failed on this cluster with ${failure.commit}: ${failure.message ?? ''}`,
    blocker: { kind: 'Cluster', name },
  };
}

/** It runs a newer commit, from another stage or from before the hub was restored: it is never rolled back. */
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

function unreachable({ name, reachability }: StageMember): ExplainedState | undefined {
  const blocker = { kind: 'Cluster', name };
  if (reachability.state === 'Reachable') return undefined;
  if (reachability.state === 'Unknown') {
    return { state: 'NotObserved', reason: 'NotSeen', because: `${name} was not observed yet`, blocker };
  }
  const { since, until, isGraceOver } = reachability;
  const because = `${name} has not answered since ${since.toISOString()}`;
  return isGraceOver
    ? { state: 'Skipped', reason: 'Unreachable', because, blocker }
    : { state: 'Unreachable', reason: 'Unreachable', because, blocker, until };
}

function inProgress({ member, hasContent, digest }: CommitContent): ExplainedState {
  const { progress, name } = member;
  if (hasContent && progress.state !== 'NotStarted') {
    return { ...explanationOf(progress), state: progress.state };
  }
  if (digest !== undefined) {
    return { state: 'NotStarted', reason: 'Pending', because: 'waits for a slot' };
  }
  return {
    state: 'NotRendered',
    reason: 'NotRendered',
    because: `the commit is not rendered for ${name} any more`,
  };
}

function explanationOf({ reason, because, blocker, until }: Explanation): Explanation {
  return { reason, because, ...optional('blocker', blocker), ...optional('until', until) };
}

/** It uses a slot of its stage. A paused or skipped cluster does not: its slot is free until it returns. */
export function usesSlot({ member, hasContent, state }: ClusterRollout): boolean {
  return hasContent && isUnproven(member) && state !== 'Paused' && state !== 'Skipped' && hadSlot(member);
}

/**
 * A cluster that lost its slot while it was away, or whose content was adopted from its inventory, has to get a slot. One that
 * was ahead and is being written uses one as soon as its stage reaches that commit.
 */
function hadSlot({ recorded, progress, hasStarted }: StageMember): boolean {
  const { state, renderedDigest } = recorded;
  if (renderedDigest !== progress.sync.renderedDigest) return false;
  if (state === 'Ahead') return hasStarted;
  return state === 'Applying' || state === 'Soaking' || state === 'Held' || state === 'Unreachable';
}

/** S33: no unit of the commit would have to soak here, because each returns to proven content. */
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
