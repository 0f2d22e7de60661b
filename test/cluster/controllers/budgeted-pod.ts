/** A pod that a PodDisruptionBudget keeps. No controller manager computes its status, so that it allows nothing. */
import type { Client } from '../../../src/kube/client/client.ts';
import { BUDGETS } from '../../../src/kube/drain/budgets.ts';
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';

const LABELS = { app: 'web' };
const NAMESPACE = 'default';
/** What the budget covers. */
export const WEB = { namespace: NAMESPACE, labels: LABELS };
const ME = { fieldManager: 'test', force: true };
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** It runs, as far as the server knows. Without a grace period it is removed as soon as it is evicted. */
export async function createPod(client: Client, machine: string): Promise<void> {
  await ensureAccount(client);
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  const metadata = { name: `web-on-${machine}`, namespace: NAMESPACE };
  const spec = {
    nodeName: machine,
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'x' }],
  };
  await client.create(PODS, { ...pod, metadata: { ...metadata, labels: LABELS }, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client.apply(PODS, { ...pod, metadata, status }, { ...ME, subresource: 'status' });
}

/** Of the pods, which no controller manager creates. */
export async function ensureAccount(client: Client): Promise<void> {
  const metadata = { name: 'default', namespace: NAMESPACE };
  await client.apply(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, ME);
}

export async function createBudget(client: Client): Promise<void> {
  const metadata = { name: 'web', namespace: NAMESPACE };
  const spec = { minAvailable: 1, selector: { matchLabels: LABELS } };
  await client.create(BUDGETS, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec });
}

export async function deleteBudget(client: Client): Promise<void> {
  const { uid = '' } = (await client.get(BUDGETS, { name: 'web', namespace: NAMESPACE })).metadata;
  await client.delete(BUDGETS, { name: 'web', namespace: NAMESPACE }, { uid });
}
