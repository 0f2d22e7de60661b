/** Decides what `kubenode rollback` writes, and what it refuses. Pure. */
import type { Cluster, ClusterRollback, KeptRevision, Pipeline } from '../../../api/generated/types.ts';
import { activePause, pausedReason, pauseText } from '../../../api/status/pauses.ts';
import { findRevisions } from '../../../api/status/revisions.ts';
import { activeRollback } from '../../../api/status/rollbacks.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { CliError, EXIT } from '../../errors.ts';

export interface RollbackRequest {
  readonly cluster: Cluster;
  /** The Pipeline that promotes to the cluster. */
  readonly pipeline: Pipeline | undefined;
  /** The text that the person typed. */
  readonly to: string;
  readonly by: string;
  readonly reason: string;
  readonly now: Date;
}

export function rollbackFor({ cluster, pipeline, to, by, reason, now }: RollbackRequest): ClusterRollback {
  const { commit, digest } = requestedRevision(cluster, to);
  checkWritable(cluster, pipeline, now);
  const runs = cluster.status?.sync?.renderedDigest;
  if (runs === digest && activeRollback(cluster) === undefined) {
    const { name } = cluster.metadata;
    throw new CliError(`cluster ${name} already runs revision ${shortCommit(commit)}`, {
      hint: `to keep it there, run: kubenode release halt ${pipeline?.metadata.name ?? 'PIPELINE'} --cluster ${name}`,
      exitCode: EXIT.badInput,
    });
  }
  return { commit, digest, by, reason, since: now.toISOString() };
}

function requestedRevision({ metadata: { name }, status }: Cluster, to: string): KeptRevision {
  const kept = status?.sync?.revisions ?? [];
  const [found, ...others] = findRevisions(kept, to);
  if (found && others.length === 0) return found;
  const what = found ? 'more than one revision' : 'no kept revision';
  const names = kept.map(({ commit }) => shortCommit(commit)).join(', ');
  throw new CliError(`cluster ${name} has ${what} ${JSON.stringify(to)}`, {
    hint: kept.length > 0 ? `use one of: ${names}` : NOTHING_KEPT,
    exitCode: EXIT.badInput,
  });
}

export const NOTHING_KEPT =
  'sync keeps none yet: check that kubenode sync is running, and run kubenode install on the hub, which creates their key';

/** A rollback during a halt would write nothing, and look as if it had. */
function checkWritable(cluster: Cluster, pipeline: Pipeline | undefined, now: Date): void {
  const reason = removedReason(cluster) ?? pauseReason(cluster, now) ?? (pipeline && pausedReason(pipeline));
  if (reason === undefined) return;
  throw new CliError(`nothing is written to cluster ${cluster.metadata.name}: ${reason}`, {
    hint: 'end that first: a rollback is a write',
    exitCode: EXIT.badInput,
  });
}

function removedReason({ status }: Cluster): string | undefined {
  const { reason, message } = status?.waiting ?? {};
  return reason === 'RemovedFromGit' ? message : undefined;
}

function pauseReason({ metadata: { name }, spec }: Cluster, now: Date): string | undefined {
  if (spec.paused) return `cluster ${name} is paused (spec.paused)`;
  const pause = activePause({ spec }, now);
  return pause && `cluster ${name} is ${pauseText(pause)}`;
}
