/** Hosts that exist. "kubenode import HOST… --label pool=general > fleet/hosts.ts" writes this file, with the keys that they must show. */
import type { FleetCluster } from 'kubenode/constructs';

export function declareHosts(cluster: FleetCluster): void {
  cluster.unit('hosts');
}
