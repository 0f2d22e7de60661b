/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface FleetClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** The URL at which nodes reach the API server. */
  readonly apiServer: string;
}

export const clusters: readonly FleetClusterDeclaration[] = [
  {
    name: 'my-cluster',
    environment: 'prod',
    // The Secret that "kubenode cluster connect" writes.
    connection: { credentialsRef: { name: 'my-cluster-kubeconfig' } },
    apiServer: 'https://api.example.com:6443',
  },
];
