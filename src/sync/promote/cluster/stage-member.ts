/** One cluster in its stage: where it stands towards a commit. Pure. */
import type { ClusterSync, Stage } from '../../../api/generated/types.ts';
import type { History } from '../commit-history.ts';
import type { Because, ClusterView } from '../snapshot.ts';
import { observed, type Progress, remembered } from './progress.ts';
import { failureOf, isProven, unitsToSoak } from './proofs.ts';
import {
  adopted,
  type Block,
  type BlockContext,
  blockOf,
  newestOf,
  type Reach,
  reachOf,
} from './reachability.ts';

export interface Member {
  readonly name: string;
  readonly view: ClusterView;
  /** As it was written down, before this pass. */
  readonly before: ClusterSync;
  readonly progress: Progress;
  /** Something of what it was given is in the cluster, by its own account. */
  readonly hasBegun: boolean;
  readonly reach: Reach;
  readonly block: Block | undefined;
}

export interface MemberContext extends BlockContext {
  /** Digests whose failure a person has acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
}

export function memberOf(view: ClusterView, stage: Stage, context: MemberContext): Member {
  const before = view.cluster.status?.sync ?? {};
  const reach = reachOf(view, stage.unreachable.graceSeconds, context.now);
  const block = blockOf(view, context);
  const visible = reach.state === 'Reached' && block?.state !== 'Held';
  const sync = visible ? adopted(before, view, context.history, context.now) : before;
  const progress = forgiven(visible ? observed(view, sync, context, stage) : remembered(sync), context);
  const hasBegun = newestIs(progress.sync, view, context.history);
  return { name: view.cluster.metadata.name, view, before, progress, hasBegun, reach, block };
}

/**
 * A person acknowledged the failure of what it runs: as soon as it is seen healthy again it is on trial like anything new.
 * While it goes on failing there is nothing to forgive.
 */
function forgiven(progress: Progress, { acknowledged }: MemberContext): Progress {
  const { renderedDigest, soak } = progress.sync;
  const isAcknowledged = renderedDigest !== undefined && acknowledged.has(renderedDigest);
  if (progress.trial !== 'Failed' || !isAcknowledged || soak?.settledAt === undefined) return progress;
  const text = `soaks as a whole, its failure is acknowledged (${progress.because})`;
  return { ...progress, trial: 'Soaking', failing: false, reason: 'Soaking', because: text };
}

/** By content: a newer commit that changes nothing here gives it another name, and writes nothing. */
function newestIs(
  { commit, renderedDigest }: ClusterSync,
  { cluster, report }: ClusterView,
  history: History,
): boolean {
  const newest = newestOf(report?.commits, history);
  if (newest === undefined || renderedDigest === undefined) return false;
  return newest === commit || history.target(newest, cluster.metadata.name)?.digest === renderedDigest;
}

/**
 * Towards one commit. Proven, Soaking, Applying, Held and Failed: it runs the commit's digest, and this is how far it
 * has come. Inherits: the digest failed here before, so it is not begun. Pending: it could begin. The others neither run
 * it nor can begin.
 */
export type Position =
  | 'Proven'
  | 'Soaking'
  | 'Applying'
  | 'Held'
  | 'Failed'
  | 'Inherits'
  | 'Pending'
  | 'Unseen'
  | 'Unreachable'
  | 'Skipped'
  | 'Paused'
  | 'Blocked'
  | 'Ahead'
  | 'Unrendered';

export interface Standing extends Because {
  readonly member: Member;
  readonly position: Position;
  /** It runs what the commit renders for it, whatever the name of the commit that brought it. */
  readonly same: boolean;
  readonly digest: string | undefined;
}

export function standingAt(member: Member, commit: string, context: MemberContext): Standing {
  const place = placeOf(member, commit, context);
  const said = blocked(member) ?? failedBefore(place, context) ?? ahead(place, commit, context);
  return { ...place, ...(said ?? unseen(member) ?? begun(place)) };
}

function placeOf(member: Member, commit: string, { history }: MemberContext): Place {
  const { sync } = member.progress;
  const target = history.target(commit, member.name);
  if (target) return { member, same: sync.renderedDigest === target.digest, digest: target.digest };
  const same = sync.commit === commit;
  return { member, same, digest: same ? sync.renderedDigest : undefined };
}

type Place = Pick<Standing, 'member' | 'same' | 'digest'>;
type Said = Because & Pick<Standing, 'position'>;

function blocked({ block }: Member): Said | undefined {
  return block && { ...block, position: block.state === 'Paused' ? 'Paused' : 'Blocked' };
}

/** A failure is a fact, also while its cluster cannot be seen: else an outage would refill the failure budget. */
function failedBefore({ member, same, digest }: Place, { acknowledged }: MemberContext): Said | undefined {
  const { progress } = member;
  if (same) return progress.trial === 'Failed' ? { ...because(progress), position: 'Failed' } : undefined;
  const failure = digest === undefined ? undefined : failureOf(progress.sync, digest);
  if (!failure || acknowledged.has(failure.digest)) return undefined;
  return {
    position: 'Inherits',
    reason: failure.reason ?? 'Failed',
    because: `what it would get failed here before, with ${failure.commit}: ${failure.message ?? ''}`,
    blocker: { kind: 'Cluster', name: member.name },
  };
}

/** It has something newer already: from another stage, or from before the hub lost its memory. Nothing goes back. */
function ahead({ member, same }: Place, commit: string, { history }: MemberContext): Said | undefined {
  const has = member.progress.sync.commit;
  if (same || has === undefined || history.order(has) <= history.order(commit)) return undefined;
  return { position: 'Ahead', reason: 'Ahead', because: `it runs ${has}, which is newer` };
}

function unseen({ name, reach }: Member): Said | undefined {
  const blocker = { kind: 'Cluster', name };
  if (reach.state === 'Reached') return undefined;
  if (reach.state === 'Unknown') {
    return { position: 'Unseen', reason: 'NotSeen', because: `${name} was not seen yet`, blocker };
  }
  const text = `${name} does not answer since ${reach.since.toISOString()}`;
  return reach.state === 'Lost'
    ? { position: 'Skipped', reason: 'Unreachable', because: text, blocker }
    : { position: 'Unreachable', reason: 'Unreachable', because: text, blocker, until: reach.until };
}

function begun({ member, same, digest }: Place): Said {
  const { progress, name } = member;
  if (same && progress.trial !== 'None') return { ...because(progress), position: progress.trial };
  if (digest !== undefined) {
    return { position: 'Pending', reason: 'Pending', because: 'its turn has not come' };
  }
  return {
    position: 'Unrendered',
    reason: 'NotRendered',
    because: `the commit is not rendered for ${name} any more`,
  };
}

function because({ reason, because: text, blocker, until }: Progress): Because {
  return { reason, because: text, ...(blocker ? { blocker } : {}), ...(until ? { until } : {}) };
}

/** It has begun on what it runs and has not ended: the soak is there until then. */
export function isOnTrial({ progress }: Member): boolean {
  return progress.trial === 'Applying' || progress.trial === 'Soaking' || progress.trial === 'Held';
}

/** Busy with the commit. A paused or skipped cluster is not: its place is free until it returns. */
export function isBusy(standing: Standing): boolean {
  const { member, same, position } = standing;
  return same && isOnTrial(member) && position !== 'Paused' && position !== 'Skipped' && hasPlace(member);
}

/**
 * Whoever lost the place while away, or was found with what it runs, asks for one. Whoever was ahead and in the middle of it
 * is being written: the stage that comes to it counts it.
 */
function hasPlace({ before, progress, hasBegun }: Member): boolean {
  const { state, renderedDigest } = before;
  if (renderedDigest !== progress.sync.renderedDigest) return false;
  if (state === 'Ahead') return hasBegun;
  return state === 'Applying' || state === 'Soaking' || state === 'Held' || state === 'Unreachable';
}

/** Nothing of the commit would have to soak here: every unit goes back to what was proven. */
export function takesFastLane(
  { member, same, digest }: Standing,
  commit: string,
  { history }: MemberContext,
): boolean {
  const { sync } = member.progress;
  if (same) return member.progress.trial === 'Proven';
  if (digest === undefined || failureOf(sync, digest)) return false;
  if (isProven(sync, digest)) return true;
  const target = history.target(commit, member.name);
  return target !== undefined && unitsToSoak(sync, target, { history, cluster: member.name }).length === 0;
}
