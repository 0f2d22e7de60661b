/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface FleetClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** Number of machines in the general pool. */
  readonly machines: number;
}

export const clusters: readonly FleetClusterDeclaration[] = [
  { name: 'test', environment: 'test', ...connectedWith('test-kubeconfig'), machines: 3 },
  { name: 'pre', environment: 'pre', ...connectedWith('pre-kubeconfig'), machines: 3 },
  { name: 'prod', environment: 'prod', ...connectedWith('prod-kubeconfig'), machines: 12 },
];

/** A Secret with a kubeconfig in kubenode-system of the hub, with the annotation `kubenode.dev/secret-use: kubeconfig`. */
function connectedWith(name: string): Pick<ClusterProps, 'connection'> {
  return { connection: { credentialsRef: { name } } };
}
