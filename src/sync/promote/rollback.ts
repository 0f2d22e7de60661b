/**
 * A cluster that a person rolled back (S24): what it gets, and when git has caught up with it. Until then no commit changes it. Pure.
 */
import type { ClusterSync } from '../../api/generated/types.ts';
import { activeRollback, endRollbackCommand, rollbackText } from '../../api/status/rollbacks.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import type { StageMember } from './cluster/stage-member.ts';

/**
 * Returns why the cluster does not follow its stage. Undefined without a rollback, and once the commit of the stage has the content
 * that the cluster returned to. `digest` is that of the commit.
 */
export function rollbackReason(member: StageMember, digest: string | undefined): Explanation | undefined {
  const { name, snapshot, progress } = member;
  const rollback = activeRollback(snapshot.cluster);
  if (!rollback || hasCaughtUp(member, digest)) return undefined;
  const isThere = progress.sync.renderedDigest === rollback.digest && progress.state === 'Proven';
  const next = isThere
    ? `it keeps that until git has the same content for it, or until: ${endRollbackCommand(name)}`
    : progress.because;
  return {
    reason: 'RolledBack',
    because: `${rollbackText(rollback)}; ${next}`,
    blocker: { kind: 'Cluster', name },
  };
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
