/** Tells whether a person rolled a cluster back to a revision that it ran before, and how that is shown. Pure. */
import type { Cluster, ClusterRollback } from '../generated/types.ts';

/** Returns the rollback in force. Undefined once git has caught up with it. */
export function activeRollback({
  spec,
  status,
}: Pick<Cluster, 'spec' | 'status'>): ClusterRollback | undefined {
  const { rollback } = spec;
  return rollback && rollback.since !== status?.sync?.rollbackEnd?.since ? rollback : undefined;
}

/** `rolled back to 4f2c9e1a77b0 by anna since TIME: ticket 7`. */
export function rollbackText({ commit, by, since, reason }: ClusterRollback): string {
  return `rolled back to ${commit.slice(0, 12)} by ${by} since ${since}: ${reason}`;
}

/** Returns the command that ends the rollback. */
export function endRollbackCommand(cluster: string): string {
  return `kubenode rollback ${cluster} --end`;
}
