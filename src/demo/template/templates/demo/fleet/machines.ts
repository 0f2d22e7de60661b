/** The machines of each cluster, their components, and the rollout of changes. */
import {
  componentRef,
  componentsAt,
  type FleetCluster,
  MachineComponent,
  MachineComponentSet,
  MachineSet,
} from 'kubenode/constructs';
import { kubelets } from './kubelet.ts';
import { problemDetector } from './problem-detector.ts';
import { versions } from './versions.ts';
import { web } from './web.ts';

const POOL = { pool: 'general' };

/** Each machine is a folder of this computer with an agent of its own. */
export function declareMachines(cluster: FleetCluster, replicas: number, zones: readonly string[]): void {
  new MachineSet(cluster.unit('machines'), 'general', {
    metadata: { name: 'general' },
    spec: {
      replicas,
      zones: [...zones],
      // Shortened for a demonstration: how long enough machines must be healthy again before any is created or deleted.
      stormGuard: { thawSeconds: 10 },
      template: {
        labels: POOL,
        infra: { provider: 'local', config: { type: 'sandbox' } },
        host: { type: 'sandbox' },
        node: { labels: POOL },
        // Shortened for a demonstration: how long the deletion of a machine that does not answer waits for it.
        deletion: { timeoutSeconds: 10 },
      },
    },
  });
}

export function declareComponents(cluster: FleetCluster): void {
  const chart = cluster.unit('components');
  for (const spec of [...kubelets, ...web, problemDetector]) {
    const name = componentRef(spec.component, spec.version);
    new MachineComponent(chart, name, { metadata: { name }, spec });
  }
  new MachineComponentSet(chart, 'general', {
    metadata: { name: 'general' },
    spec: {
      machineSelector: { matchLabels: POOL },
      components: componentsAt(versions),
      rollout: {
        batches: [1, 2, 5],
        maxUnavailable: 1,
        // Shortened for a demonstration, as the limit on the time of one machine.
        gate: { soakSeconds: 3, checks: [{ name: 'health', builtin: {} }] },
        failure: { maxFailed: 0, onFailure: 'RollbackAll' },
        machineTimeoutSeconds: 120,
      },
    },
  });
}
