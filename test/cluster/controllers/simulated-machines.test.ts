/** A MachineSet of simulated machines, by controllers that are killed and whose calls of the API server fail: exactly as many as declared, none twice, no leak. */
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { machinesFolder } from '../../../src/cli/local/machines-folder.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { createLayout } from '../../../src/local/layout.ts';
import { writeState } from '../../../src/local/state.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { deletedMark, instanceId, listUids } from '../../../src/providers/local/folders.ts';
import { endMarked, findMarked } from '../../../src/providers/local/processes.ts';
import { WRITES } from '../../support/fault-proxy/call.ts';
import { answer, drop } from '../../support/fault-proxy/faults.ts';
import type { Fault } from '../../support/fault-proxy/proxied-request.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { applyFleetDefault } from '../defender/objects.ts';
import { endLease, killed, startControllers } from '../defender/processes.ts';
import { CONTROLLERS, POLICY } from './machine-cluster.ts';

/** Twenty take 40 seconds on a busy machine with two cores. */
const COUNT = LONG ? 1000 : 20;
const WITHIN_MS = LONG ? 5_400_000 : 600_000;
const PATIENT = { timeout: WITHIN_MS, interval: LONG ? 2000 : 250 };
const CLUSTER = 'hub';
const SET = 'many';
const LEASE = { namespace: NAMESPACE, name: 'kubenode-controllers' };
/** Parts of all machines that exist when the process is killed. */
const KILLS = [0.25, 0.5, 0.75];

/** In 100 calls: 5 errors of the server, 10 that time out after they succeeded, and 5 that are throttled. */
const FAULTS: readonly (readonly [upTo: number, fault: Fault])[] = [
  [0.05, answer(500)],
  [0.1, answer(504, { when: 'after' })],
  [0.15, drop('after')],
  [0.2, answer(429, { retryAfterSeconds: 1 })],
];

describe('simulated machines of a MachineSet', { timeout: WITHIN_MS }, () => {
  const clock = createSystemClock();
  const dir = tempFolder('fleet');
  const machines = machinesFolder(dir, CLUSTER);
  const fired = new Map<string, number>();
  let installed: InstalledServer;
  let proxy: FaultProxy;
  let controllers: ChildProcess;
  let start: () => void;
  let isKilling = false;
  let beganMs = 0;
  let starts = 0;

  beforeAll(async () => {
    installed = await startInstalledServer();
    await applyFleetDefault(installed, POLICY);
    await declareFleet();
    proxy = await faultProxy(installed.server);
    for (const resource of ['machines', 'machinesets', 'defenderledgers']) {
      proxy.on({ verb: [...WRITES], resource, fault: sometimes() });
    }
    const kubeconfig = proxy.kubeconfigFor(CONTROLLERS);
    start = () => {
      // Each fault is a warning.
      const flags = ['--local-machines', CLUSTER, '--local-dir', dir, '--log-level', 'error'];
      const started = startControllers(kubeconfig, ...flags);
      starts += 1;
      controllers = started;
      // One whose Lease was not renewed in time on a busy machine ends by itself.
      started.once('exit', () => {
        if (!isKilling) start();
      });
    };
    start();
  }, WITHIN_MS);

  afterAll(async () => {
    isKilling = true;
    if (controllers) await killed(controllers);
    await endMarked(machines, clock);
    await proxy?.close();
    await installed?.stop();
  }, WITHIN_MS);

  /** The server of this test as a local cluster, so that simulated agents get certificates. */
  async function declareFleet(): Promise<void> {
    const layout = createLayout(dir);
    mkdirSync(machines, { recursive: true });
    symlinkSync(join(dirname(installed.server.kubeconfig), 'pki'), layout.cluster(CLUSTER).pkiFolder);
    const port = Number(new URL(installed.server.url).port);
    const ports = { port, controllerManagerPort: port, schedulerPort: port };
    const cluster = { name: CLUSTER, ...ports, bindAddress: '127.0.0.1', names: [], controllers: false };
    await writeState(layout.stateFile, { version: 1, etcdPort: port, clusters: [cluster] });
  }

  function sometimes(): Fault {
    const random = randomFrom(SEED);
    return {
      name: 'one in five',
      async act(proxied) {
        const drawn = random();
        const fault = FAULTS.find(([upTo]) => drawn < upTo)?.[1];
        const name = fault?.name ?? 'none';
        fired.set(name, (fired.get(name) ?? 0) + 1);
        await (fault ? fault.act(proxied) : proxied.forward());
      },
    };
  }

  async function declare(replicas: number): Promise<void> {
    const infra = { provider: 'local', config: { type: 'simulated' } };
    const object = {
      apiVersion: API_VERSION,
      kind: 'MachineSet',
      metadata: { name: SET },
      spec: { replicas, startupTimeoutSeconds: 7200, template: { infra, host: { type: 'sandbox' } } },
    };
    await installed.server.client.apply(MACHINE_SETS, object, { fieldManager: 'test', force: true });
  }

  async function list(): Promise<readonly Machine[]> {
    const found: Machine[] = [];
    for await (const { items } of installed.server.client.pages<Machine>(MACHINES)) found.push(...items);
    return found;
  }

  async function instances(): Promise<number> {
    return (await listUids(machines)).length;
  }

  /** Of the process that leads. Another one starts in its place, and does not wait for the end of the Lease. */
  async function killAndStart(): Promise<void> {
    await expect.poll(async () => (await holder()).includes(`-${controllers.pid}-`), PATIENT).toBe(true);
    isKilling = true;
    await killed(controllers);
    isKilling = false;
    await endLease(installed.server.client);
    start();
  }

  async function holder(): Promise<string> {
    const { items } = await installed.server.client.list(LEASES, { namespace: NAMESPACE });
    const lease = items.find(({ metadata }) => metadata.name === LEASE.name);
    return textAt(lease, 'spec', 'holderIdentity') ?? '';
  }

  function everDeleted(): readonly string[] {
    return readdirSync(machines).includes('.deleted')
      ? readdirSync(dirname(deletedMark(machines, 'any')))
      : [];
  }

  /** The times of a long run are measures: "Machines that join" in bench/README.md. */
  function tell(what: string): void {
    const seconds = Math.round((clock.monotonicMs() - beganMs) / 1000);
    if (LONG) process.stderr.write(`${what} after ${seconds} s\n`);
    beganMs = clock.monotonicMs();
  }

  it('MAC-30 are exactly as many as their set declares, over killed controllers and failing calls, without a leak', async () => {
    beganMs = clock.monotonicMs();
    await declare(COUNT);
    for (const part of KILLS) {
      // oxlint-disable no-await-in-loop -- one kill after the other
      await expect.poll(instances, PATIENT).toBeGreaterThan(COUNT * part);
      await killAndStart();
      // oxlint-enable no-await-in-loop
    }
    await expect.poll(async () => (await list()).filter(isJoined).length, PATIENT).toBe(COUNT);
    tell(`${COUNT} machines joined`);
    const all = await list();
    const uids = await listUids(machines);
    expect([all.length, uids.length, everDeleted()]).toEqual([COUNT, COUNT, []]);
    const ids = all.map(({ status }) => status?.infra?.providerID ?? '').toSorted(byCode);
    expect(ids).toEqual(uids.map(instanceId).toSorted(byCode));
    const simulators = await findMarked(machines);
    expect(simulators).toHaveLength(1);

    beganMs = clock.monotonicMs();
    await declare(0);
    for (const part of KILLS.toReversed()) {
      // oxlint-disable no-await-in-loop -- one kill after the other
      await expect.poll(instances, PATIENT).toBeLessThan(COUNT * part);
      await killAndStart();
      // oxlint-enable no-await-in-loop
    }
    await expect.poll(async () => (await list()).length, PATIENT).toBe(0);
    tell(`${COUNT} machines were deleted`);
    expect(await listUids(machines)).toEqual([]);
    expect(everDeleted().toSorted(byCode)).toEqual(uids.toSorted(byCode));
    await expect.poll(() => findMarked(machines), PATIENT).toEqual([]);

    const calls = [...fired.values()].reduce((sum, count) => sum + count, 0);
    const faults = FAULTS.map(([, { name }]) => fired.get(name) ?? 0);
    tell(`${calls} writes, ${starts} processes, faults ${JSON.stringify(Object.fromEntries(fired))}, ended`);
    expect(Math.min(...faults)).toBeGreaterThan(0);
    expect(faults.reduce((sum, count) => sum + count, 0) / calls).toBeGreaterThan(0.1);
  });
});

function isJoined({ status }: Machine): boolean {
  const isReady = conditionOf(status?.conditions, 'AgentReady')?.status === 'True';
  return isReady && status?.infra?.providerID !== undefined;
}
