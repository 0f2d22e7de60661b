/** The clusters, in the order in which commits reach them. `kubenode local up --clusters 4` starts them and their hub. */
import type { ClusterProps } from 'kubenode/constructs';

export interface ClusterDeclaration extends ClusterProps {
  readonly name: string;
  readonly machines: number;
  /** The machines are spread evenly over them. */
  readonly zones: readonly string[];
}

export const clusters: readonly ClusterDeclaration[] = [
  { name: 'test', environment: 'test', connection: connectedWith('test'), machines: 2, zones: ['east'] },
  { name: 'pre', environment: 'pre', connection: connectedWith('pre'), machines: 2, zones: ['east'] },
  {
    name: 'prod',
    environment: 'prod',
    connection: connectedWith('prod'),
    machines: 6,
    zones: ['east', 'west'],
  },
];

function connectedWith(cluster: string): NonNullable<ClusterProps['connection']> {
  return { credentialsRef: { name: `${cluster}-kubeconfig` } };
}
