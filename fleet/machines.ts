/** The machines of each cluster, their components, and the rollout of changes. */
import {
  componentRef,
  componentsAt,
  type FleetCluster,
  MachineComponent,
  MachineComponentSet,
  MachineSet,
} from 'kubenode/constructs';
import { components } from './components/index.ts';
import { versions } from './versions.ts';

const POOL = { pool: 'general' };

export function declareMachines(cluster: FleetCluster, replicas: number): void {
  new MachineSet(cluster.unit('machines'), 'general', {
    metadata: { name: 'general' },
    spec: {
      replicas,
      template: { labels: POOL, infra: { provider: 'local' }, node: { labels: POOL } },
      updateStrategy: { type: 'InPlace' },
    },
  });
}

export function declareComponents(cluster: FleetCluster): void {
  const chart = cluster.unit('components');
  for (const spec of components) {
    const name = componentRef(spec.component, spec.version);
    new MachineComponent(chart, name, { metadata: { name }, spec });
  }
  new MachineComponentSet(chart, 'general', {
    metadata: { name: 'general' },
    spec: {
      machineSelector: { matchLabels: POOL },
      components: componentsAt(versions),
      rollout: {
        batches: [1, 5, 10, 50, 100],
        maxUnavailable: '10%',
        gate: { soakSeconds: 300, checks: [{ name: 'health', builtin: {} }] },
        failure: { maxFailed: 1, onFailure: 'RollbackBatch' },
      },
    },
  });
}
