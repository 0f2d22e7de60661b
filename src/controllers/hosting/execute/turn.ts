/**
 * Whose turn it is to change our own controllers. Clusters are reconciled at the same time, and a change that one has just recorded is in no
 * view yet. Hosting runs in one process at a time, so that its memory is enough until the view shows the record.
 */
export interface ChangeTurn {
  /** Takes the turn, also again. Returns the Cluster that has it, if that is another one. */
  take(cluster: string, nowMs: number): string | undefined;
}

/** Much longer than a view is behind. A change that did not begin after all holds up the others no longer. */
const TURN_MS = 60_000;

export function createChangeTurn(): ChangeTurn {
  let holder: { readonly cluster: string; readonly endsMs: number } | undefined;
  return {
    take(cluster, nowMs) {
      if (holder && holder.cluster !== cluster && nowMs < holder.endsMs) return holder.cluster;
      holder = { cluster, endsMs: nowMs + TURN_MS };
      return undefined;
    },
  };
}
