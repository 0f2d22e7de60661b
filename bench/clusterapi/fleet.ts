/** Machines of Cluster API with their KubeadmConfigs and Nodes, and what machines of kubenode have of components and agents. */
import { MACHINE_COMPONENTS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine } from '../../src/api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP, MANAGER_COMPONENTSET } from '../../src/api/names.ts';
import { API_VERSION } from '../../src/api/version.ts';
import { ANNOTATION_UPDATING } from '../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { valueAt } from '../../src/kube/objects/json.ts';
import { runConcurrently } from '../../src/kube/process/run-concurrently.ts';
import { KUBEADM_API_VERSION, KUBEADM_CONFIGS } from '../../test/support/cluster-api/infrastructure.ts';
import {
  THEIR_API_VERSION,
  THEIR_MACHINES,
  WORKLOAD_NAMESPACE,
} from '../../test/support/cluster-api/workload-cluster.ts';
import { nodeOf } from '../reflector/nodes.ts';
import { CONFIG, configSpec, declaredComponents, entryOf, FROM, KUBELET } from './configs.ts';

export const LABELS = { pool: 'general' };

export function theirName(index: number): string {
  return `md-${index}`;
}

/** The instance of a Node of the bench has a Machine of Cluster API, with a config of its own. */
export async function createTheirMachines(client: Client, count: number): Promise<void> {
  await runConcurrently(indexes(count), async (index) => {
    const metadata = { namespace: WORKLOAD_NAMESPACE, name: theirName(index), labels: LABELS };
    const { kind, group: apiGroup } = KUBEADM_CONFIGS;
    const spec = configSpec(FROM.config);
    await client.create(KUBEADM_CONFIGS, { apiVersion: KUBEADM_API_VERSION, kind, metadata, spec });
    await client.create(THEIR_MACHINES, theirMachine(index, { apiGroup, kind, name: metadata.name }));
    const body = { status: { nodeRef: { name: nodeOf(index).metadata.name } } };
    await client.patch(THEIR_MACHINES, metadata, { type: 'merge', body }, { subresource: 'status' });
  });
}

function theirMachine(index: number, configRef: object): Parameters<Client['create']>[1] {
  const name = theirName(index);
  return {
    apiVersion: THEIR_API_VERSION,
    kind: THEIR_MACHINES.kind,
    metadata: { namespace: WORKLOAD_NAMESPACE, name, labels: LABELS },
    spec: {
      clusterName: 'c',
      version: `v${FROM.kubelet}`,
      providerID: valueAt(nodeOf(index), 'spec', 'providerID'),
      bootstrap: { configRef },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DevMachine', name },
    },
  };
}

export async function createComponents(client: Client): Promise<void> {
  const { kind } = MACHINE_COMPONENTS;
  await runConcurrently(declaredComponents(), ({ name, spec }) =>
    client.create(MACHINE_COMPONENTS, { apiVersion: API_VERSION, kind, metadata: { name }, spec }),
  );
}

/** Each machine gets the first versions, as a set assigns them, and an agent that has joined. */
export async function giveComponents(client: Client): Promise<void> {
  const refs = [`${KUBELET}-${FROM.kubelet}`, `${CONFIG}-${FROM.config}`];
  const components = declaredComponents()
    .filter(({ name }) => refs.includes(name))
    .map(entryOf);
  const { items } = await client.list<Machine>(MACHINES);
  await runConcurrently(items, async ({ metadata: { name } }) => {
    const object = { apiVersion: API_VERSION, kind: MACHINES.kind, metadata: { name }, spec: { components } };
    await client.apply(MACHINES, object, { fieldManager: MANAGER_COMPONENTSET });
    const body = { status: { agent: { observedGeneration: 1 } } };
    await client.patch(MACHINES, { name }, { type: 'merge', body }, { subresource: 'status' });
  });
}

/** Counts the machines of kubenode whose state before an update is known. */
export async function countRecorded(client: Client): Promise<number> {
  const { items } = await client.list<Machine>(MACHINES);
  return items.filter(({ metadata }) => metadata.annotations?.[ANNOTATION_BOOTSTRAP]).length;
}

/** Cluster API writes what it desires, and marks it, before it asks for the update. */
export async function beginUpdate(
  client: Client,
  index: number,
  to: { readonly kubelet: string; readonly config: string },
): Promise<void> {
  const target = { namespace: WORKLOAD_NAMESPACE, name: theirName(index) };
  const metadata = { annotations: { [ANNOTATION_UPDATING]: '' } };
  const config = { metadata, spec: configSpec(to.config) };
  await client.patch(KUBEADM_CONFIGS, target, { type: 'merge', body: config });
  const body = { metadata, spec: { version: `v${to.kubelet}` } };
  await client.patch(THEIR_MACHINES, target, { type: 'merge', body });
}

export function indexes(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
