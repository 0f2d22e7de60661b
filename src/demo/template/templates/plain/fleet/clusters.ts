/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface ClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** Replicas of the shop: 0 for clusters without nodes, such as those of `kubenode local up`. */
  readonly replicas: number;
}

export const clusters: readonly ClusterDeclaration[] = [
  { name: 'test', environment: 'test', connection: connectedWith('test'), replicas: 0 },
  { name: 'pre', environment: 'pre', connection: connectedWith('pre'), replicas: 0 },
  { name: 'prod', environment: 'prod', connection: connectedWith('prod'), replicas: 0 },
];

/**
 * A Secret with a kubeconfig in the namespace kubenode-system of the hub, annotated with `kubenode.dev/secret-use: kubeconfig`.
 * `kubenode local up --clusters 4` creates it: a hub, test, pre and prod.
 */
function connectedWith(cluster: string): NonNullable<ClusterProps['connection']> {
  return { credentialsRef: { name: `${cluster}-kubeconfig` } };
}
