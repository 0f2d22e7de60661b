/** Decides which stage, and which Pipeline, a cluster belongs to. Pure. */

import type { Cluster, Pipeline, Stage } from '../../../api/generated/types.ts';
import { selectableLabels } from '../../../api/status/cluster-labels.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import { managedClusters } from '../cluster/registration.ts';
import { judgingPipeline } from '../gates/in-force.ts';

export type StageMembership =
  | { readonly kind: 'Member'; readonly stage: string }
  | { readonly kind: 'Unassigned' }
  /** Several stages select it. Their targets could contradict each other, so it gets none. */
  | { readonly kind: 'Contested'; readonly stages: readonly string[] };

export function stageMembership(cluster: Cluster, stages: readonly Stage[]): StageMembership {
  const labels = selectableLabels(cluster);
  const names = stages
    .filter(({ clusterSelector }) => isSelected(clusterSelector, labels))
    .map(({ name }) => name);
  const [stage] = names;
  if (stage === undefined) return { kind: 'Unassigned' };
  return names.length === 1 ? { kind: 'Member', stage } : { kind: 'Contested', stages: names };
}

/**
 * Returns the membership of a cluster in several lists of stages. The first list decides in which the cluster is in one stage; if
 * there is none, the last one.
 */
export function membershipIn(cluster: Cluster, stageLists: readonly (readonly Stage[])[]): StageMembership {
  const found = stageLists.map((stages) => stageMembership(cluster, stages));
  return found.find(({ kind }) => kind === 'Member') ?? found.at(-1) ?? { kind: 'Unassigned' };
}

export interface ClusterClaim {
  readonly cluster: Cluster;
  /** The Pipeline that writes the cluster's status. The first Pipeline does it for a cluster that none holds. */
  readonly owner: string | undefined;
  /**
   * The Pipeline that may write to the cluster. It keeps the cluster, whichever other Pipeline selects it as well, until its own
   * stages do not select it any more or it is deleted.
   */
  readonly holder: string | undefined;
  readonly selectedBy: readonly string[];
}

export function claimClusters(
  clusters: readonly Cluster[],
  pipelines: readonly Pipeline[],
): readonly ClusterClaim[] {
  const sorted = pipelines
    .toSorted((a, b) => byCode(a.metadata.name, b.metadata.name))
    .map(({ metadata, ...rest }) => ({ metadata, ...judgingPipeline({ metadata, ...rest }) }));
  return clusters.map((cluster) => {
    const selectedBy = sorted
      .filter(({ stageLists }) => membershipIn(cluster, stageLists).kind !== 'Unassigned')
      .map(({ metadata }) => metadata.name);
    const holder = holderOf(cluster, selectedBy);
    return { cluster, selectedBy, holder, owner: holder ?? selectedBy[0] ?? sorted[0]?.metadata.name };
  });
}

/**
 * Returns the Pipeline that may write to the cluster. What is recorded decides, then which repository declares the Cluster.
 * Undefined if several select it, and none has more right to it.
 */
function holderOf(cluster: Cluster, selectedBy: readonly string[]): string | undefined {
  const recorded = cluster.status?.assigned?.pipeline;
  if (recorded !== undefined && selectedBy.includes(recorded)) return recorded;
  if (selectedBy.length <= 1) return selectedBy[0];
  return selectedBy.find((pipeline) => managedClusters(pipeline, [cluster]).size > 0);
}

/**
 * Returns the clusters whose content is from this Pipeline: as recorded, or else as selected, because a restored hub may lack the
 * record. Commits of other repositories on this hub do not belong to the history of this one.
 */
export function promotedClusters(
  pipeline: string,
  clusters: readonly Cluster[],
  pipelines: readonly Pipeline[],
): readonly Cluster[] {
  return claimClusters(clusters, pipelines)
    .filter(({ cluster, holder }) => (cluster.status?.assigned?.pipeline ?? holder) === pipeline)
    .map(({ cluster }) => cluster);
}
