/** What runs as pods in every cluster. cdk8s-plus-27 has constructs for it, and kubenode applies it as every other unit. */
import type { FleetCluster } from 'kubenode/constructs';
import { declareDns } from './dns.ts';
import { declareKubeProxy } from './kube-proxy.ts';

/** In the range of Services of the API server, and `clusterDNS` of the kubelets. */
const DNS_ADDRESS = '10.96.0.10';

export function declareAddons(cluster: FleetCluster, apiServer: string): void {
  const chart = cluster.unit('addons');
  declareDns(chart, DNS_ADDRESS);
  declareKubeProxy(chart, apiServer);
}
