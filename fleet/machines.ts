/** The machines of each cluster. */
import { type FleetCluster, MachineSet } from 'kubenode/constructs';
import { POOL } from './rollout.ts';

/** How many machines a cluster has. */
const REPLICAS: Readonly<Record<string, number>> = { test: 3, pre: 3, prod: 12 };

export function declareMachines(cluster: FleetCluster): void {
  new MachineSet(cluster.unit('machines'), 'general', {
    metadata: { name: 'general' },
    spec: {
      replicas: REPLICAS[cluster.name] ?? 0,
      template: { labels: POOL, infra: { provider: 'local' }, node: { labels: POOL } },
      updateStrategy: { type: 'InPlace' },
    },
  });
}
