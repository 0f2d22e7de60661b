/**
 * Decides which Clusters git has removed, and which of several Clusters that lead to one cluster may write to it. Pure.
 *
 * The inventory is in the cluster, so a rename needs no copy of it: the Cluster that git removed stops, and once that is recorded
 * the new one continues with the same inventory. Two that stay in git are never both written through.
 */
import type { Cluster } from '../../../api/generated/types.ts';
import { LABEL_HUB, LABEL_UNIT } from '../../../api/names.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import type { AcceptedCommit } from '../../commits.ts';
import { hubScope } from '../../hub-scope.ts';

/** Returns the Clusters that the repository of this Pipeline declares, or declared. */
export function managedClusters(pipeline: string, clusters: readonly Cluster[]): ReadonlySet<string> {
  const scope = hubScope(pipeline);
  const managed = clusters.filter(({ metadata: { labels = {} } }) => {
    return labels[LABEL_HUB] !== undefined && labels[LABEL_UNIT]?.startsWith(scope);
  });
  return new Set(managed.map(({ metadata }) => metadata.name));
}

/** Returns the Clusters that are still in the hub although the newest accepted commit does not declare them any more. */
export function removedClusters(
  managed: ReadonlySet<string>,
  newest: AcceptedCommit | undefined,
): ReadonlySet<string> {
  const declared = newest?.clusters;
  return new Set(declared ? [...managed].filter((name) => !declared.has(name)) : []);
}

export interface RegisteredCluster {
  readonly cluster: Cluster;
  readonly report?: ClusterReport;
}

/** Another Cluster of the hub leads to the same cluster. */
export type SharedCluster =
  /** The other one is registered for it. */
  | { readonly kind: 'Duplicate'; readonly of: string; readonly uid: string }
  /** The other one is not recorded as stopped yet. */
  | { readonly kind: 'TakesOver'; readonly from: string; readonly uid: string };

/** Returns, by name, the Clusters that lead to the same cluster as another one. Clusters that share nothing are left out. */
export function sharedClusters(
  all: readonly RegisteredCluster[],
  removed: ReadonlySet<string>,
): ReadonlyMap<string, SharedCluster> {
  const shared = new Map<string, SharedCluster>();
  for (const [uid, group] of Map.groupBy(all, uidOf)) {
    const [first, ...others] = group.toSorted((a, b) => order(a, b, removed));
    if (uid === undefined || !first || others.length === 0) continue;
    for (const other of others) shared.set(nameOf(other), { kind: 'Duplicate', of: nameOf(first), uid });
    const writing = others.find(({ cluster }) => cluster.status?.assigned?.mode === 'Apply');
    if (writing) shared.set(nameOf(first), { kind: 'TakesOver', from: nameOf(writing), uid });
  }
  return shared;
}

/** Returns the UID that was observed, or else the one that the Cluster is pinned to. */
function uidOf({ cluster, report }: RegisteredCluster): string | undefined {
  if (report?.identity === 'Verified' && report.clusterUID) return report.clusterUID;
  return cluster.spec.clusterUID ?? cluster.status?.clusterUID;
}

/** Compares two Clusters. The first one keeps the cluster: still in git, then registered, then older. */
function order(a: RegisteredCluster, b: RegisteredCluster, removed: ReadonlySet<string>): number {
  return (
    Number(isLeaving(a, removed)) - Number(isLeaving(b, removed)) ||
    Number(isRegistered(b)) - Number(isRegistered(a)) ||
    byCode(createdAt(a), createdAt(b)) ||
    byCode(nameOf(a), nameOf(b))
  );
}

function isLeaving({ cluster }: RegisteredCluster, removed: ReadonlySet<string>): boolean {
  return cluster.metadata.deletionTimestamp !== undefined || removed.has(cluster.metadata.name);
}

function isRegistered(each: RegisteredCluster): boolean {
  return each.cluster.status?.clusterUID !== undefined && each.cluster.status.clusterUID === uidOf(each);
}

function createdAt({ cluster }: RegisteredCluster): string {
  return cluster.metadata.creationTimestamp ?? '';
}

function nameOf({ cluster }: RegisteredCluster): string {
  return cluster.metadata.name;
}
