/** The clusters, in the order in which commits reach them. */
import type { ClusterProps } from 'kubenode/constructs';

export interface FleetClusterDeclaration extends ClusterProps {
  readonly name: string;
  /** The URL at which nodes reach the API server. */
  readonly apiServer: string;
}

export const clusters: readonly FleetClusterDeclaration[] = [
  {
    name: 'test',
    environment: 'test',
    ...connectedWith('test-kubeconfig'),
    apiServer: apiServerOf('test'),
  },
  {
    name: 'pre',
    environment: 'pre',
    ...connectedWith('pre-kubeconfig'),
    apiServer: apiServerOf('pre'),
  },
  {
    name: 'prod',
    environment: 'prod',
    ...connectedWith('prod-kubeconfig'),
    apiServer: apiServerOf('prod'),
  },
];

/** A Secret with a kubeconfig in kubenode-system of the hub, with the annotation `kubenode.dev/secret-use: kubeconfig`. */
function connectedWith(name: string): Pick<ClusterProps, 'connection'> {
  return { connection: { credentialsRef: { name } } };
}

function apiServerOf(name: string): string {
  return `https://${name}.example.com:6443`;
}
