/** Groups the clusters of a hub that are in the same state for the same reason. Pure. */
import { byCode } from '../../kube/objects/digest.ts';
import { withoutTimes } from '../text/age.ts';
import type { ClusterRow } from './hub-status.ts';

export interface ClusterGroup {
  readonly names: readonly string[];
  /** The row of the cluster that has been in this state longest. */
  readonly row: ClusterRow;
}

/** Groups clusters, in the order of the first cluster of each group. */
export function groupClusters(rows: readonly ClusterRow[]): readonly ClusterGroup[] {
  return [...Map.groupBy(rows, stateKey).values()].flatMap((group) => {
    const [row] = group.toSorted((a, b) => byCode(a.since ?? '', b.since ?? ''));
    return row ? [{ names: group.map(({ name }) => name), row }] : [];
  });
}

/**
 * Returns a key that is equal for two observations of a cluster if nothing changed between them but the time, and how many of its machines
 * are Ready: an update changes that once for each machine.
 */
export function stateKey({ pipeline, stage, commit, state, synced, health, because }: ClusterRow): string {
  return JSON.stringify([pipeline, stage, commit, state, synced, health, withoutTimes(because)]);
}
