/**
 * Whose turn it is to change our own controllers. Clusters are reconciled at the same time, and a change that one has just recorded is in no
 * view yet. Hosting runs in one process at a time, so that its memory is enough until the view shows the record.
 */
export interface ChangeTurn {
  /** Takes the turn, also again. Returns the Cluster that has it, if that is another one. */
  take(cluster: string): string | undefined;
  /** Leaves the turn, if the Cluster has it. */
  leave(cluster: string): void;
}

export function createChangeTurn(): ChangeTurn {
  let holder: string | undefined;
  return {
    take(cluster) {
      holder ??= cluster;
      return holder === cluster ? undefined : holder;
    },
    leave(cluster) {
      if (holder === cluster) holder = undefined;
    },
  };
}
