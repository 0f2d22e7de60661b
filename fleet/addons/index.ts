/** What runs as pods in every cluster. cdk8s-plus-27 has constructs for it, and kubenode applies it as every other unit. */
import type { FleetCluster } from 'kubenode/constructs';
import { CLUSTER_DNS } from '../network.ts';
import { declareDns } from './dns.ts';
import { declareKubeProxy } from './kube-proxy.ts';

export function declareAddons(cluster: FleetCluster, apiServer: string): void {
  const chart = cluster.unit('addons');
  declareDns(chart, CLUSTER_DNS);
  declareKubeProxy(chart, apiServer);
}
