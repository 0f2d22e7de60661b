/** The components of the machines, and the rollout of changes. */
import {
  componentRef,
  componentsAt,
  type FleetCluster,
  MachineComponent,
  MachineComponentSet,
} from 'kubenode/constructs';
import { components } from './components/index.ts';
import { versions } from './versions.ts';

/** Machines with this label get the components. */
export const POOL = { pool: 'general' };

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
