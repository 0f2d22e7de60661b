/** Clusters of a hub that are in the same state for the same reason. Pure. */
import { byCode } from '../../kube/objects/digest.ts';
import { withoutTimes } from '../text/age.ts';
import type { ClusterRow } from './hub-status.ts';

export interface ClusterGroup {
  readonly names: readonly string[];
  /** Of the cluster that has been in this state longest. */
  readonly row: ClusterRow;
}

/** In the order of their first clusters. */
export function groupClusters(rows: readonly ClusterRow[]): readonly ClusterGroup[] {
  return [...Map.groupBy(rows, stateKey).values()].flatMap((group) => {
    const [row] = group.toSorted((a, b) => byCode(a.since ?? '', b.since ?? ''));
    return row ? [{ names: group.map(({ name }) => name), row }] : [];
  });
}

/**
 * Equal for two looks at a cluster between which nothing changed but the time, and how many of its machines are Ready: an update changes
 * that once for each machine.
 */
export function stateKey({ pipeline, stage, commit, state, synced, health, because }: ClusterRow): string {
  return JSON.stringify([pipeline, stage, commit, state, synced, health, withoutTimes(because)]);
}
