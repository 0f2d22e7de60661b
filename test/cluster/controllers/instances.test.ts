/** MachineSets of sandboxes on this machine: real agents that join with tokens, controllers that are killed, and no leak. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBundle } from '../../../scripts/bundle.ts';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { NAMESPACE_AGENTS, PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../../src/api/names.ts';
import { machinesFolder } from '../../../src/cli/local/machines-folder.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { instanceFolder, listUids } from '../../../src/providers/local/folders.ts';
import { endMarked, findMarked } from '../../../src/providers/local/processes.ts';
import { startControllerManager } from '../../support/controller-manager.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { endLease, killed, startControllers } from '../defender/processes.ts';
import { POLICY } from './machine-cluster.ts';

/** Eight take 50 seconds on a busy machine with two cores. */
const SANDBOXES = LONG ? 50 : 5;
const CLUSTER = 'hub';

describe('sandboxes of a MachineSet', () => {
  const clock = createSystemClock();
  const dir = tempFolder('fleet');
  const machines = machinesFolder(dir, CLUSTER);
  let installed: InstalledServer;
  let stopManager: () => Promise<void>;
  let controllers: ChildProcess;
  let start: () => void;

  beforeAll(async () => {
    installed = await startInstalledServer();
    await applyFleetDefault(installed, POLICY);
    stopManager = await startControllerManager(installed.server, ['csrsigning']);
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    const { file } = await buildBundle('agent', tempFolder('bundle'));
    mkdirSync(machines, { recursive: true });
    const flags = ['--local-machines', CLUSTER, '--local-dir', dir, '--local-agent', file];
    start = () => {
      controllers = startControllers(kubeconfig, ...flags);
    };
    start();
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    for (const uid of await listUids(machines)) await endMarked(instanceFolder(machines, uid).path, clock);
    await stopManager?.();
    await installed?.stop();
  });

  async function declare(replicas: number): Promise<void> {
    const infra = { provider: 'local', config: { type: 'sandbox' } };
    const object = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineSet',
      metadata: { name: 'boxes' },
      spec: { replicas, template: { infra, host: { type: 'sandbox' } } },
    };
    await installed.server.client.apply(MACHINE_SETS, object, { fieldManager: 'test', force: true });
  }

  async function list(): Promise<readonly Machine[]> {
    return (await installed.server.client.list<Machine>(MACHINES)).items;
  }

  async function joined(): Promise<number> {
    return (await list()).filter(({ status }) => {
      const isReady = conditionOf(status?.conditions, 'AgentReady')?.status === 'True';
      return isReady && status?.infra?.providerID !== undefined;
    }).length;
  }

  /** By instance: processes that are its agent. */
  async function agents(): Promise<readonly number[]> {
    const folders = (await listUids(machines)).map((uid) => instanceFolder(machines, uid));
    const found = await Promise.all(folders.map(({ path }) => findMarked(path)));
    return found.map(
      (all, index) => all.filter(({ command }) => command.includes(folders[index]?.hostFolder ?? '')).length,
    );
  }

  it('MAC-30 are exactly as many as their set declares, over killed controllers and agents, without a leak', async () => {
    await declare(SANDBOXES);
    await expect.poll(async () => (await listUids(machines)).length).toBeGreaterThan(0);
    await killed(controllers);
    await endLease(installed.server.client);
    start();
    await expect.poll(joined).toBe(SANDBOXES);
    expect(await agents()).toEqual(Array.from({ length: SANDBOXES }, () => 1));
    const ids = (await list()).map(({ status }) => status?.infra?.providerID);
    const expected = (await listUids(machines)).map((each) => `local:///${each}`);
    expect(new Set(ids)).toEqual(new Set(expected));

    const [uid = ''] = await listUids(machines);
    const { path } = instanceFolder(machines, uid);
    await endMarked(path, clock);
    await expect.poll(async () => (await findMarked(path)).length).toBeGreaterThan(0);
    await expect.poll(joined).toBe(SANDBOXES);

    const folders = (await listUids(machines)).map((each) => instanceFolder(machines, each).path);
    await declare(0);
    await expect.poll(async () => (await listUids(machines)).length).toBeLessThan(SANDBOXES);
    await killed(controllers);
    await endLease(installed.server.client);
    start();
    await expect.poll(async () => (await list()).length).toBe(0);
    expect(await listUids(machines)).toEqual([]);
    const left = await Promise.all(folders.map((each) => findMarked(each)));
    expect(left.flat()).toEqual([]);
    const { items } = await installed.server.client.list(LEASES, { namespace: NAMESPACE_AGENTS });
    expect(items.length).toBeLessThanOrEqual(SANDBOXES);
  });
});
