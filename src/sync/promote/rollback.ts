/**
 * A cluster that a person rolled back (S24): what it gets, and when git has caught up with it. Until then no commit changes it. Pure.
 */
import type { ClusterRollback, ClusterSync } from '../../api/generated/types.ts';
import { activeRollback, endRollbackCommand, rollbackText } from '../../api/status/rollbacks.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import type { StageMember } from './cluster/stage-member.ts';

/**
 * Returns why the cluster does not follow its stage. Undefined without a rollback, and once the commit of the stage has the content
 * that the cluster returned to. `digest` is that of the commit.
 */
export function rollbackReason(member: StageMember, digest: string | undefined): Explanation | undefined {
  const { name, snapshot } = member;
  const rollback = activeRollback(snapshot.cluster);
  if (!rollback || hasCaughtUp(member, digest)) return undefined;
  return {
    reason: 'RolledBack',
    because: `${rollbackText(rollback)}; ${nextText(member, rollback)}`,
    blocker: { kind: 'Cluster', name },
  };
}

function nextText(member: StageMember, rollback: ClusterRollback): string {
  const { name, progress } = member;
  if (!mayReturn(member, rollback)) {
    return `nothing is written: it never ran that commit with content ${rollback.digest}. Choose one of: kubenode rollback ${name} --list, or end it: ${endRollbackCommand(name)}`;
  }
  const isThere = progress.sync.renderedDigest === rollback.digest && progress.state === 'Proven';
  return isThere
    ? `it keeps that until git has the same content for it, or until: ${endRollbackCommand(name)}`
    : progress.because;
}

/**
 * Tells whether the cluster ran the content of the rollback. Anything else was not accepted for it: a person who may edit Clusters would
 * bring a commit without a signature or an approval.
 */
export function mayReturn(
  { snapshot: { cluster }, progress }: StageMember,
  { commit, digest }: ClusterRollback,
): boolean {
  if (progress.sync.renderedDigest === digest) return true;
  const { revisions = [], proven = [], failed = [], history = [] } = cluster.status?.sync ?? {};
  return [...revisions, ...proven, ...failed, ...history].some(
    (each) => each.digest === digest && each.commit === commit,
  );
}

/** Before the rollback was recorded, the content of the stage may be the same by chance: it is not applied yet. */
function hasCaughtUp({ snapshot, recorded }: StageMember, digest: string | undefined): boolean {
  const rollback = activeRollback(snapshot.cluster);
  return rollback !== undefined && digest === rollback.digest && recorded.renderedDigest === rollback.digest;
}

/** Returns the record with the end of the rollback, if the commit of the stage ends it. The end is recorded while its rollback is. */
export function withRollbackEnd(
  sync: ClusterSync,
  member: StageMember,
  current: { readonly commit: string; readonly digest: string | undefined },
  now: Date,
): ClusterSync {
  const { rollbackEnd, ...rest } = sync;
  const since = member.snapshot.cluster.spec.rollback?.since;
  if (since === undefined) return rest;
  const ended = hasCaughtUp(member, current.digest)
    ? { since, endedAt: now.toISOString(), commit: current.commit }
    : rollbackEnd;
  return { ...rest, ...optional('rollbackEnd', ended) };
}
