/** Builds the record of a cluster that starts a commit, or that has its content already. Pure. */
import type { ClusterRollback, ClusterSync } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { TargetDigests } from '../../commits.ts';
import type { OrderedRelease } from '../release/order.ts';
import { releaseName } from '../release/release.ts';
import { failureOf, isProven, unitsToSoak, withFailure } from './proofs.ts';
import type { ClusterRollout } from './rollout.ts';
import { ALL_UNITS, startSoak } from './soak.ts';
import type { MemberContext } from './stage-member.ts';

/** Returns the intent to start the commit, which is recorded before the first write to the cluster. */
export function startedSync(
  { member, digest }: ClusterRollout,
  stage: string,
  { commit, name }: OrderedRelease,
  { history, now }: MemberContext,
): ClusterSync {
  const sync = withoutResults(member.progress.sync);
  const target = history.target(commit, member.name) ?? unknownUnits(digest);
  const record = withUnprovenAgain(sync, now);
  const failure = failureOf(record, target.digest);
  const units = failure ? [ALL_UNITS] : unitsToSoak(record, target, { history, cluster: member.name });
  // Content that failed here starts after an acknowledgement, or as a revert to what was proven before: it counts as new.
  const failed = record.failed?.filter((entry) => entry !== failure);
  return {
    ...record,
    ...optional('failed', failed),
    commit,
    renderedDigest: target.digest,
    release: name,
    stage,
    soak: { ...startSoak(target, units, sync.soak, now), ...optional('provenAt', failure?.provenAt) },
  };
}

/** Returns the intent to return to a revision. The content proven here before skips the soak; everything has to be applied and healthy. */
export function rolledBackSync(
  { member }: Pick<ClusterRollout, 'member'>,
  { commit, digest }: Pick<ClusterRollback, 'commit' | 'digest'>,
  pipeline: string,
  now: Date,
): ClusterSync {
  const sync = withoutResults(member.progress.sync);
  const record = withUnprovenAgain(sync, now);
  const units = isProven(record, digest) ? [] : [ALL_UNITS];
  const failed = record.failed?.filter((entry) => entry.digest !== digest);
  return {
    ...record,
    ...optional('failed', failed),
    commit,
    renderedDigest: digest,
    release: releaseName(pipeline, commit),
    soak: startSoak(unknownUnits(digest), units, sync.soak, now),
  };
}

/** Removes what the content before did: it tells nothing about the next one. */
function withoutResults({
  objects: _o,
  failures: _f,
  unhealthy: _u,
  held: _h,
  ...sync
}: ClusterSync): ClusterSync {
  return sync;
}

/** Keeps content known as proven once if it was assigned again after a failure, and is replaced before it was proven again. */
function withUnprovenAgain(sync: ClusterSync, now: Date): ClusterSync {
  const { soak, renderedDigest: digest, commit } = sync;
  if (soak?.provenAt === undefined || digest === undefined || commit === undefined) return sync;
  const failure = {
    digest,
    commit,
    failedAt: now.toISOString(),
    reason: 'Replaced',
    message: 'replaced before it was proven again',
    provenAt: soak.provenAt,
  };
  return { ...sync, ...withFailure(sync, failure) };
}

function isWriteForbidden(state: ClusterRollout['state']): boolean {
  return state === 'Blocked' || state === 'Removed';
}

function unknownUnits(digest: string | undefined): TargetDigests {
  return { digest: digest ?? '', units: new Map() };
}

/** Returns the record for the same content under a newer commit: a new name, no write and no new soak. */
export function renamedSync(
  { member, hasContent, state }: ClusterRollout,
  stage: string,
  { commit, name }: OrderedRelease,
  { history }: MemberContext,
): ClusterSync {
  const { sync } = member.progress;
  const inStage = { ...sync, stage };
  const isObserved = !isWriteForbidden(state) && member.reachability.state === 'Reachable';
  if (!hasContent || !isObserved) return inStage;
  // Never an older name: a commit that was adopted from the inventory stays.
  const isOlder = history.order(commit) < history.order(sync.commit);
  return isOlder ? inStage : { ...inStage, commit, release: name };
}
