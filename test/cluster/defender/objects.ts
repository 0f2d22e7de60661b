/** What the Defender decides by, on a real API server: its policy, and machines with their Nodes. */
import { DEFENDER_LEDGERS, DEFENDER_POLICIES, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, DefenderPolicy } from '../../../src/api/generated/types.ts';
import { FLEET_DEFAULT, MANAGER_SYNC, PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { machine, node } from '../../support/builders.ts';
import type { InstalledServer } from '../api/installed-server.ts';

/** Groups of every account in kubenode-system. */
export const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

export async function applyFleetDefault(installed: InstalledServer, spec: object): Promise<void> {
  await applyPolicy(installed, FLEET_DEFAULT, spec);
}

/** As sync does. */
export async function applyPolicy(installed: InstalledServer, name: string, spec: object): Promise<void> {
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const { kind } = DEFENDER_POLICIES;
  const object = { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name }, spec };
  await sync.apply(DEFENDER_POLICIES, object, { fieldManager: MANAGER_SYNC });
}

export async function readPolicy(client: Client, name: string = FLEET_DEFAULT): Promise<DefenderPolicy> {
  return await client.get<DefenderPolicy>(DEFENDER_POLICIES, { name });
}

export async function readLedger(client: Client): Promise<DefenderLedger> {
  return await client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' });
}

/** A Machine, and its Node with this status. */
export async function createMachineWithNode(
  client: Client,
  name: string,
  status: unknown = node(name)['status'],
): Promise<void> {
  const { apiVersion, kind, spec } = machine(name);
  await client.create(MACHINES, { apiVersion, kind, metadata: { name }, spec: { ...spec, components: [] } });
  const { status: _, ...its } = node(name);
  await client.create(NODES, its);
  await patchNodeStatus(client, name, status);
}

export async function patchNodeStatus(client: Client, name: string, status: unknown): Promise<void> {
  const target = { ...NODES, plural: 'nodes' };
  await client.patch(target, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}
