/** What a loop without kubenode needs for the writes that end a batch: the part of the time between two batches that is the API server's. */
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';

/** The settlement in the entry, and the status of the Machine that is Ready again. */
export const WRITES_OF_END = 2;

/** Of one status of a Machine, with as many at once as the controllers write. Heartbeats go on, as during the rollout. */
export async function measureBareWrite(client: Client, names: readonly string[]): Promise<number> {
  const began = performance.now();
  await runConcurrently(names, (name) => writeCondition(client, name));
  return (performance.now() - began) / names.length;
}

async function writeCondition(client: Client, name: string): Promise<void> {
  const lastTransitionTime = '2030-01-01T12:00:00Z';
  const condition = { type: 'Bench', status: 'True', reason: 'Bench', message: 'bare', lastTransitionTime };
  const intent = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    status: { conditions: [condition] },
  };
  await client.apply(MACHINES, intent, { fieldManager: 'bench', subresource: 'status', force: true });
}
