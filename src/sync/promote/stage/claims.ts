/** Which Pipeline speaks for a cluster, where there are several. Pure. */
import type { Cluster, Pipeline } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { membershipOf } from './membership.ts';

export interface Claim {
  readonly cluster: Cluster;
  /** Writes its status and says its target. A cluster that nobody selects is the first Pipeline's to count. */
  readonly owner: string | undefined;
  readonly by: readonly string[];
}

export function claimsOn(clusters: readonly Cluster[], pipelines: readonly Pipeline[]): readonly Claim[] {
  const sorted = pipelines.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  return clusters.map((cluster) => {
    const by = sorted
      .filter(({ spec }) => membershipOf(cluster, spec.stages).kind !== 'Unassigned')
      .map(({ metadata }) => metadata.name);
    return { cluster, by, owner: by[0] ?? sorted[0]?.metadata.name };
  });
}
