/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface FleetClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** Machines of the general pool. */
  readonly machines: number;
}

export const clusters: readonly FleetClusterDeclaration[] = [
  { name: 'test', environment: 'test', ...reachedBy('test-kubeconfig'), machines: 3 },
  { name: 'pre', environment: 'pre', ...reachedBy('pre-kubeconfig'), machines: 3 },
  { name: 'prod', environment: 'prod', ...reachedBy('prod-kubeconfig'), machines: 12 },
];

/** A Secret in the hub's namespace kubenode-system, with a kubeconfig in it. */
function reachedBy(name: string): Pick<ClusterProps, 'connection'> {
  return { connection: { credentialsRef: { name } } };
}
