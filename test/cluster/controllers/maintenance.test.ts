/** Announced maintenance, in `kubenode controllers` on a real API server: with the installed rights, under all admission policies. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { MaintenanceEvent, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { MANAGER_SYNC, PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { condition } from '../../support/builders.ts';
import { shippedMaintenanceRule } from '../../support/faults/fault-rules.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault, createMachineWithNode } from '../defender/objects.ts';
import { killed, startLoggedControllers } from '../defender/processes.ts';
import { ensureAccount } from './budgeted-pod.ts';
import { CONTROLLERS, POLICY } from './machine-cluster.ts';

const MACHINE = 'm-1';
const EVENT = 'local-e-1';

let installed: InstalledServer;
let running: ChildProcess | undefined;

beforeAll(async () => {
  installed = await startInstalledServer();
  // Nodes of a test are young.
  await applyFleetDefault(installed, { ...POLICY, blockers: { minNodeAgeSeconds: 0 } });
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  await sync.apply(NODE_REMEDIERS, shippedMaintenanceRule(), { fieldManager: MANAGER_SYNC });
  const lastHeartbeatTime = createSystemClock().now().toISOString();
  const ready = { ...condition('Ready', 'True'), lastHeartbeatTime };
  const status = { conditions: [ready], nodeInfo: { bootID: 'boot-1' } };
  await createMachineWithNode(installed.server.client, MACHINE, status);
  await runPod();
  running = startLoggedControllers(await installed.server.kubeconfigFor(CONTROLLERS), () => undefined);
});

afterAll(async () => {
  if (running) await killed(running);
  await installed?.stop();
});

/** A pod that ends as soon as it is evicted. */
async function runPod(): Promise<void> {
  const { client } = installed.server;
  await ensureAccount(client);
  const ends = { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
  const spec = { nodeName: MACHINE, ...ends, containers: [{ name: 'main', image: 'x' }] };
  const metadata = { name: 'web', namespace: 'default' };
  await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
}

/** As its reporter does. */
async function announce(state: MaintenanceEvent['spec']['state']): Promise<void> {
  const event = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MaintenanceEvent',
    metadata: { name: EVENT },
    spec: { provider: 'local', eventID: 'e-1', machine: MACHINE, type: 'Reboot', state },
  };
  await installed.server.client.apply(MAINTENANCE_EVENTS, event, { fieldManager: 'person' });
}

async function statusOfEvent(): Promise<MaintenanceEvent['status']> {
  return (await installed.server.client.get<MaintenanceEvent>(MAINTENANCE_EVENTS, { name: EVENT })).status;
}

async function cordoned(): Promise<boolean> {
  return isCordoned(await installed.server.client.get(NODES, { name: MACHINE }));
}

async function jobs(): Promise<readonly RemedyOperationJob[]> {
  return (await installed.server.client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
}

describe('announced maintenance on a real API server', () => {
  it('R39 cordons and drains the node of an event, and returns it when the event is done', async () => {
    await announce('Scheduled');
    await expect.poll(statusOfEvent).toMatchObject({ phase: 'Prepared', remedier: 'maintenance' });
    const { items } = await installed.server.client.list(PODS, { namespace: 'default' });
    expect([items, await cordoned()]).toEqual([[], true]);
    const [job] = await jobs();
    expect((await statusOfEvent())?.job).toBe(job?.metadata.name);

    await announce('Executing');
    await expect.poll(statusOfEvent).toMatchObject({ observedState: 'Executing', phase: 'Prepared' });
    expect(await cordoned()).toBe(true);
    await announce('Done');
    await expect.poll(cordoned).toBe(false);
    await expect.poll(statusOfEvent).toMatchObject({ phase: 'Done' });
    const ended = await jobs();
    expect(ended.map(({ status }) => status?.outcome?.class)).toEqual(['Succeeded']);
  });
});
