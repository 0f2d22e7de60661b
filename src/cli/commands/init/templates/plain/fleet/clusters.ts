/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface ClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** Of the shop. None while a cluster has no nodes, as those of `kubenode local up`. */
  readonly replicas: number;
}

export const clusters: readonly ClusterDeclaration[] = [
  { name: 'test', environment: 'test', connection: reachedBy('test'), replicas: 0 },
  { name: 'pre', environment: 'pre', connection: reachedBy('pre'), replicas: 0 },
  { name: 'prod', environment: 'prod', connection: reachedBy('prod'), replicas: 0 },
];

/** A Secret in the hub's namespace kubenode-system, with a kubeconfig in it. `kubenode local up` puts it there. */
function reachedBy(cluster: string): NonNullable<ClusterProps['connection']> {
  return { credentialsRef: { name: `${cluster}-kubeconfig` } };
}
