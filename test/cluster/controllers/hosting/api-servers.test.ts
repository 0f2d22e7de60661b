/** Control planes with several API servers between real versions, with clients that notice an outage: by `kubenode hosting` beside a real API server as hub. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { PRINCIPAL_HOSTING } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { createProgramLookup } from '../../../../src/local/binaries/binaries.ts';
import { resolveBinaries } from '../../../../src/local/binaries/resolve.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { pollUntil } from '../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type LoadReport, startClientLoad } from '../../../support/hosting/client-load.ts';
import { createHostingProcess, type HostingProcess } from '../../../support/hosting/hosting-process.ts';
import { OLD_VERSION, VERSION } from '../../../support/hosting/objects.ts';
import { noOlderKubernetesReason, olderKubernetes } from '../../../support/hosting/older-kubernetes.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const clock = createSystemClock();
const folder = tempFolder('servers');
const dir = join(folder, 'hosting');
/**
 * Each of these takes minutes: `npm run test:long` runs them. What a run of all tests shows of several API servers is beside the driver:
 * drivers/process/api-servers.
 */
const missing = LONG
  ? await noOlderKubernetesReason()
  : 'only npm run test:long changes several API servers by kubenode hosting';
if (missing) process.stderr.write(`skipped: ${missing}\n`);
/** A change of version restarts seven members; other tests share the machine. */
const CHANGED = { timeout: 600_000, interval: 250 };
const ETCD = { replicas: 3 };
const LIMIT = 900_000;

let installed: InstalledServer;
let hub: Client;
let assets: readonly string[];
let hosting: HostingProcess;
let made = 0;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  installed = await startInstalledServer();
  hub = installed.server.client;
  const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  assets = [await currentKubernetes()];
  hosting = createHostingProcess({
    hub,
    kubeconfig,
    dir,
    flags: () => assets.flatMap((each) => ['--kube-assets', each]),
  });
  await hosting.start();
}, LIMIT);

afterEach(async () => {
  for (const { metadata } of (await hub.list<Cluster>(CLUSTERS)).items) {
    await hub.patch(CLUSTERS, metadata, { type: 'merge', body: { spec: { deletion: { force: true } } } });
    await hub.delete(CLUSTERS, metadata, { uid: metadata.uid ?? '' });
  }
  await pollUntil(hasNoClusters, {
    clock,
    everyMs: 250,
    deadlineMs: clock.monotonicMs() + CHANGED.timeout,
  });
}, LIMIT);

afterAll(async () => {
  await hosting?.endAll();
  await installed?.stop();
});

describe.runIf(LONG)('hosted control planes with several API servers', () => {
  it(
    'HOS-16 changes a flag on one API server after the other, and clients notice nothing',
    async () => {
      const name = await create({ replicas: 2, upgrade: { soakSeconds: 1 } });
      const before = await serverProcesses(name);
      const load = await startClientLoad(dir, name);
      await change(name, { apiServer: { extraArgs: { 'goaway-chance': '0.001' } } });
      await expect.poll(async () => (await status(name))?.history?.length, CHANGED).toBe(1);
      await isUpToDate(name, VERSION);
      const report = await load.stop();
      print('a flag', report);
      const after = await serverProcesses(name);
      expect([after.length, before.filter((pid) => after.includes(pid))]).toEqual([2, []]);
      expectNoOutage(report);
    },
    LIMIT,
  );

  it(
    'HOS-16 keeps a bad flag from the second API server, and clients notice nothing',
    async () => {
      const name = await create({ replicas: 2 });
      const before = await serverProcesses(name);
      const load = await startClientLoad(dir, name);
      await change(name, { apiServer: { extraArgs: { 'feature-gates': 'NoSuchGate=true' } } });
      await expect
        .poll(() => condition(name, 'ControlPlaneStalled'), CHANGED)
        .toMatch(/^True RolledBack.*NoSuchGate/s);
      await isReady(name);
      const report = await load.stop();
      print('a bad flag', report);
      const after = await serverProcesses(name);
      expect(after).toHaveLength(2);
      expect(before.filter((pid) => after.includes(pid))).toHaveLength(1);
      expectNoOutage(report);
    },
    LIMIT,
  );

  it(
    'HOS-13 grows from one API server to two with a short outage, and gets smaller without any',
    async () => {
      const name = await create({});
      const growing = await startClientLoad(dir, name);
      await change(name, { replicas: 2 });
      // The balancers run once the first API server has left them the port.
      await expect.poll(() => answering(name, 'kubenode-balancer'), CHANGED).toBe('2/2');
      await expect.poll(() => servers(name), CHANGED).toBe(`${VERSION} 2/2`);
      await isReady(name);
      const grown = await growing.stop();
      print('from one to two', grown);
      expect(grown.outageMs).toBeLessThan(10_000);

      const shrinking = await startClientLoad(dir, name);
      await change(name, { replicas: 1 });
      await expect.poll(() => servers(name), CHANGED).toBe(`${VERSION} 1/1`);
      await isUpToDate(name, VERSION);
      const report = await shrinking.stop();
      print('from two to one', report);
      expect(report.errors).toEqual([]);
      expect(await serverProcesses(name)).toHaveLength(1);
    },
    LIMIT,
  );
});

describe.skipIf(missing)('hosted control planes with several API servers, between real versions', () => {
  beforeAll(async () => {
    assets = [await olderKubernetes(folder), ...assets];
    await hosting.kill();
    await hosting.start();
  }, LIMIT);

  it(
    'HOS-13 upgrades a minor version and returns to the former one, and clients notice nothing',
    async () => {
      const name = await create({
        version: OLD_VERSION,
        replicas: 2,
        etcd: ETCD,
        upgrade: { soakSeconds: 3600 },
      });
      const load = await startClientLoad(dir, name);
      await change(name, { version: VERSION });
      await expect.poll(() => step(name), CHANGED).toBe('Soak');
      expect(await servers(name)).toBe(`${VERSION} 2/2`);
      await change(name, { version: OLD_VERSION });
      await isUpToDate(name, OLD_VERSION);
      const report = await load.stop();
      print('to the soak and back', report);
      expect(report.requests).toBeGreaterThan(1000);
      expectNoOutage(report);
    },
    LIMIT,
  );

  it(
    'HOS-13 completes an upgrade beyond the point of no return, and clients notice nothing',
    async () => {
      const name = await create({
        version: OLD_VERSION,
        replicas: 2,
        etcd: ETCD,
        upgrade: { soakSeconds: 1 },
      });
      const load = await startClientLoad(dir, name);
      await change(name, { version: VERSION });
      await isUpToDate(name, VERSION);
      const report = await load.stop();
      print('to the end', report);
      expect(report.errors.length).toBeLessThanOrEqual(report.requests / 1000);
      expect(report.watchGapMs).toBeLessThan(10_000);
    },
    LIMIT,
  );
});

async function hasNoClusters(): Promise<boolean> {
  return (await hub.list(CLUSTERS)).items.length === 0;
}

async function currentKubernetes(): Promise<string> {
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;
  const found = await resolveBinaries({ env: shellEnv(), programs, clock, onStep: () => undefined });
  return join(createProgramLookup(found)('etcd'), '..');
}

async function create(hosted: object): Promise<string> {
  made += 1;
  const name = `servers-${made}`;
  const spec = {
    environment: 'test',
    deletion: { protection: false },
    hosted: { driver: 'process', version: VERSION, ...hosted },
  };
  await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name }, spec });
  await isReady(name);
  return name;
}

async function change(name: string, hosted: object): Promise<void> {
  await hub.patch(CLUSTERS, { name }, { type: 'merge', body: { spec: { hosted } } });
}

async function status(name: string): Promise<NonNullable<Cluster['status']>['hosted']> {
  return (await hub.get<Cluster>(CLUSTERS, { name })).status?.hosted;
}

async function step(name: string): Promise<string | undefined> {
  return (await status(name))?.upgrade?.step;
}

async function condition(name: string, type: string): Promise<string> {
  const found = conditionOf((await hub.get<Cluster>(CLUSTERS, { name })).status?.conditions, type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

async function isReady(name: string): Promise<void> {
  await expect.poll(() => condition(name, 'ControlPlaneReady'), CHANGED).toMatch(/^True /);
}

/** The condition of the spec before would be True, too. */
async function isUpToDate(name: string, version: string): Promise<void> {
  const ended = async (): Promise<string> => {
    const hosted = await status(name);
    const running = hosted?.components?.find((each) => each.name === 'kube-apiserver')?.version;
    return `${running} ${await condition(name, 'ControlPlaneUpToDate')}`;
  };
  await expect.poll(ended, CHANGED).toMatch(new RegExp(`^${version} True AsWanted`));
}

/** Returns the lowest version of the API servers, and how many answer. */
async function servers(name: string): Promise<string> {
  const found = (await status(name))?.components?.find((each) => each.name === 'kube-apiserver');
  return `${found?.version} ${await answering(name, 'kube-apiserver')}`;
}

async function answering(name: string, component: string): Promise<string> {
  const found = (await status(name))?.components?.find((each) => each.name === component);
  return `${found?.ready}/${found?.desired}`;
}

async function serverProcesses(name: string): Promise<readonly number[]> {
  const all = (await listProcesses()).filter(({ command }) => isMember(name, command));
  return all.filter(({ command }) => command[0]?.endsWith('/kube-apiserver')).map(({ pid }) => pid);
}

function expectNoOutage({ errors, requests, watchGapMs }: LoadReport): void {
  expect(errors.length).toBeLessThanOrEqual(requests / 1000);
  expect(watchGapMs).toBeLessThan(10_000);
}

function print(what: string, { errors, ...report }: LoadReport): void {
  const numbers = Object.entries(report).map(([name, value]) => `${name} ${Math.round(value)}`);
  process.stdout.write(
    `${what}: errors ${errors.length}, ${numbers.join(', ')}\n${errors.slice(0, 10).join('\n')}\n`,
  );
}

function isMember(name: string, command: readonly string[]): boolean {
  return command.some((arg) => arg.includes(`=${planeLayout(dir, name).root}/`));
}
