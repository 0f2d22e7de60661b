/**
 * Does what the controller manager does: deletes the content of a deleted Namespace and then lets it end, and reports that the
 * Deployments of no replicas are rolled out. Without that a newer commit waits for them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { NAMESPACES } from '../../../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';

const POLL_MS = 300;

const ROLLED_OUT = [
  { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'available' },
  { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: 'rolled out' },
];

export interface Controllers {
  close(): Promise<void>;
}

export function startControllers(client: Client): Controllers {
  const ending = new AbortController();
  const running = run();
  return {
    async close() {
      ending.abort();
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      await endNamespaces().catch(ignoreMissing);
      await observeDeployments().catch(ignoreMissing);
      await pause(POLL_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  async function observeDeployments(): Promise<void> {
    const kind = await client.resourceFor('apps/v1', 'Deployment');
    for (const deployment of (await client.list(kind)).items) {
      const { name, namespace = '', generation } = deployment.metadata;
      if (valueAt(deployment, 'status', 'observedGeneration') === generation) continue;
      const body = { status: { observedGeneration: generation, conditions: ROLLED_OUT } };
      await client.patch(kind, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
    }
  }

  async function endNamespaces(): Promise<void> {
    const { items } = await client.list(NAMESPACES);
    for (const namespace of items.filter(({ metadata }) => metadata.deletionTimestamp)) await end(namespace);
  }

  async function end(namespace: KubeObject): Promise<void> {
    client.forgetResources();
    const kinds = (await client.resources()).filter(({ namespaced }) => namespaced);
    const left = await Promise.all(kinds.map((kind) => deleteAll(kind, namespace.metadata.name)));
    if (left.some((count) => count > 0)) return;
    const ended = { ...namespace, spec: { finalizers: [] } };
    await client.replace(NAMESPACES, ended, { subresource: 'finalize' });
  }

  /** How many objects there were: they may have finalizers. */
  async function deleteAll(kind: Resource, namespace: string): Promise<number> {
    try {
      const { items } = await client.list(kind, { namespace });
      for (const { metadata } of items) {
        if (metadata.deletionTimestamp || !metadata.uid) continue;
        await client.delete(kind, { name: metadata.name, namespace }, { uid: metadata.uid });
      }
      return items.length;
    } catch (error) {
      ignoreMissing(error);
      return 0;
    }
  }
}

/** Kinds that cannot be listed, and what changed since it was read: the next poll reads again. */
function ignoreMissing(error: unknown): void {
  if (!isKubeError(error)) throw error;
}
