/** Upgrades and rollbacks of hosted control planes between real versions, by `kubenode hosting` beside a real API server as hub. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { PRINCIPAL_HOSTING } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { readSnapshot } from '../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import { createProgramLookup } from '../../../../src/local/binaries/binaries.ts';
import { resolveBinaries } from '../../../../src/local/binaries/resolve.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { pollUntil } from '../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { createHostingProcess, type HostingProcess } from '../../../support/hosting/hosting-process.ts';
import { OLD_VERSION, VERSION } from '../../../support/hosting/objects.ts';
import { noOlderKubernetesReason, olderKubernetes } from '../../../support/hosting/older-kubernetes.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { LONG, randomFrom, SEED } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const clock = createSystemClock();
const folder = tempFolder('upgrade');
const dir = join(folder, 'hosting');
const missing = await noOlderKubernetesReason();
/** A change of version restarts seven members; other tests share the machine. */
const CHANGED = { timeout: 600_000, interval: 250 };
const LIMIT = 900_000;
const random = randomFrom(SEED);

let installed: InstalledServer;
let hub: Client;
let assets: readonly string[];
let hosting: HostingProcess;
let made = 0;

describe.skipIf(missing)('hosted control planes between real versions', () => {
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    installed = await startInstalledServer();
    hub = installed.server.client;
    const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
    assets = [await olderKubernetes(folder), await currentKubernetes()];
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

  it(
    'HOS-11 upgrades a minor version, and returns before the point of no return with all objects',
    async () => {
      const name = await create({ upgrade: { soakSeconds: 3600 } });
      await write(name, 'of-1-35');
      await change(name, { version: VERSION });
      // The controller may be killed at any time.
      await clock.sleep(Math.floor(random() * 10_000));
      await hosting.kill();
      await hosting.start();
      await expect.poll(() => step(name), CHANGED).toBe('Soak');
      expect(await versions(name)).toEqual(['v3.6.8', VERSION, VERSION, VERSION]);
      expect((await status(name))?.rollbackPossible).toBe(true);
      expect(await readSnapshot(snapshotFolder(name))).toMatchObject({ etcdVersion: 'v3.6.5' });
      await write(name, 'of-the-soak');

      await change(name, { version: OLD_VERSION });
      await isUpToDate(name, OLD_VERSION);
      expect(await versions(name)).toEqual(['v3.6.5', OLD_VERSION, OLD_VERSION, OLD_VERSION]);
      expect(await configMaps(name)).toEqual(['of-1-35', 'of-the-soak']);
      const { history, lastOutage } = (await status(name)) ?? {};
      expect(history?.map(({ result }) => result)).toEqual(['RolledBack']);
      expect(lastOutage?.cause).toBe('Change');
      expect(lastOutage?.milliseconds).toBeGreaterThan(500);
    },
    LIMIT,
  );

  it.runIf(LONG)(
    'HOS-11 completes an upgrade after one that returned, and does not return after the point of no return',
    async () => {
      const name = await create({ upgrade: { soakSeconds: 3600 } });
      await write(name, 'of-1-35');
      await change(name, { version: VERSION });
      await expect.poll(() => step(name), CHANGED).toBe('Soak');
      await write(name, 'of-the-soak');
      await change(name, { version: OLD_VERSION });
      await isUpToDate(name, OLD_VERSION);

      await change(name, { version: VERSION, upgrade: { soakSeconds: 1 } });
      await isUpToDate(name, VERSION);
      expect(await configMaps(name)).toEqual(['of-1-35', 'of-the-soak']);
      expect(await emulated(name)).toEqual([]);
      const { lastOutage } = (await status(name)) ?? {};
      expect(lastOutage?.cause).toBe('Change');
      expect(lastOutage?.milliseconds).toBeGreaterThan(500);
      expect(lastOutage?.milliseconds).toBeLessThan(120_000);

      await change(name, { version: OLD_VERSION });
      await expect
        .poll(() => condition(name, 'ControlPlaneUpToDate'), CHANGED)
        .toMatch(/^False RollbackImpossible/);
      expect(await versions(name)).toEqual(['v3.6.8', VERSION, VERSION, VERSION]);
      expect((await status(name))?.history?.map(({ result }) => result)).toEqual(['Completed', 'RolledBack']);
    },
    LIMIT,
  );

  it.runIf(LONG)(
    'HOS-30 upgrades three members of etcd one after the other, also when hosting is killed, and keeps their majority',
    async () => {
      const name = await create({ etcd: { replicas: 3 }, upgrade: { soakSeconds: 1 } });
      await write(name, 'of-1-35');
      expect(await etcdVersions(name)).toEqual(['v3.6.5']);
      const watched = watchEtcd(name);
      await change(name, { version: VERSION });
      await expect.poll(() => step(name), CHANGED).toBe('Etcd');
      await expect.poll(() => watched.started(), { ...CHANGED, interval: 20 }).toBeGreaterThan(3);
      await hosting.kill();
      await hosting.start();
      await isUpToDate(name, VERSION);
      const { fewest, started } = await watched.end();
      expect([fewest, started]).toEqual([2, 6]);
      expect(await etcdVersions(name)).toEqual(['v3.6.8']);
      await expect.poll(() => condition(name, 'EtcdReady'), CHANGED).toMatch(/^True .*3 of 3 members answer/);
      expect(await configMaps(name)).toEqual(['of-1-35']);
      expect((await status(name))?.history?.map(({ result }) => result)).toEqual(['Completed']);
    },
    LIMIT,
  );

  it(
    'HOS-12 takes a version back by itself whose API server never answers, and keeps serving',
    async () => {
      const name = await create({ upgrade: { soakSeconds: 1, progressDeadlineSeconds: 20 } });
      await write(name, 'before');
      await change(name, { version: VERSION });
      const started = async (): Promise<number | undefined> => {
        const all = await listProcesses();
        return all.find(
          ({ command }) => isMember(name, command) && command.includes('--emulated-version=1.35'),
        )?.pid;
      };
      await expect.poll(started, { ...CHANGED, interval: 20 }).toBeDefined();
      process.kill((await started()) ?? 0, 'SIGSTOP');
      await expect.poll(() => condition(name, 'ControlPlaneStalled'), CHANGED).toMatch(/^True RolledBack/);
      await isReady(name);
      expect(await versions(name)).toEqual(['v3.6.5', OLD_VERSION, OLD_VERSION, OLD_VERSION]);
      expect(await configMaps(name)).toEqual(['before']);
    },
    LIMIT,
  );

  it.runIf(LONG)(
    'HOS-16 takes a flag back by itself with which the API server does not start',
    async () => {
      const name = await create({});
      const extraArgs = { 'feature-gates': 'NoSuchGate=true' };
      await change(name, { apiServer: { extraArgs } });
      await expect
        .poll(() => condition(name, 'ControlPlaneStalled'), CHANGED)
        .toMatch(/^True RolledBack.*NoSuchGate/s);
      await isReady(name);
      await change(name, { apiServer: { extraArgs: { 'feature-gates': null, 'goaway-chance': '0.001' } } });
      await isUpToDate(name, OLD_VERSION);
      const all = await listProcesses();
      expect(
        all.filter(({ command }) => isMember(name, command) && command.includes('--goaway-chance=0.001')),
      ).toHaveLength(1);
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
  const name = `up-${made}`;
  const spec = {
    environment: 'test',
    deletion: { protection: false },
    hosted: { driver: 'process', version: OLD_VERSION, ...hosted },
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

async function versions(name: string): Promise<readonly (string | undefined)[]> {
  const components = (await status(name))?.components ?? [];
  return components.slice(0, 4).map(({ version }) => version);
}

function isMember(name: string, command: readonly string[]): boolean {
  return command.some((arg) => arg.includes(`=${planeLayout(dir, name).root}/`));
}

/** The version of the members of etcd, of which the status has the lowest. */
async function etcdVersions(name: string): Promise<readonly (string | undefined)[]> {
  const components = (await status(name))?.components ?? [];
  return components.filter((each) => each.name === 'etcd').map(({ version }) => version);
}

interface WatchedEtcd {
  /** How many processes of etcd were observed. */
  readonly started: () => number;
  readonly end: () => Promise<{ readonly fewest: number; readonly started: number }>;
}

/** Observes all the time how many members of etcd run at least. A snapshot is opened by another etcd, with a folder of its own. */
function watchEtcd(name: string): WatchedEtcd {
  const root = planeLayout(dir, name).root;
  const pids = new Set<number>();
  const stop = new AbortController();
  let fewest = Number.POSITIVE_INFINITY;
  const watching = (async () => {
    while (!stop.signal.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- one observation after the other
      const running = (await listProcesses()).filter(({ command }) =>
        command.some((arg) => arg.startsWith(`--data-dir=${root}/etcd`)),
      );
      for (const { pid } of running) pids.add(pid);
      fewest = Math.min(fewest, running.length);
      // oxlint-disable-next-line no-await-in-loop -- the time between two observations
      await clock.sleep(20);
    }
  })();
  return {
    started: () => pids.size,
    end: async () => {
      stop.abort();
      await watching;
      return { fewest, started: pids.size };
    },
  };
}

async function emulated(name: string): Promise<readonly unknown[]> {
  const all = (await listProcesses()).filter(({ command }) => isMember(name, command));
  return all.filter(({ command }) => command.some((arg) => arg.startsWith('--emulated-version')));
}

function snapshotFolder(name: string): string {
  return join(planeLayout(dir, name).root, 'snapshots', 'upgrade');
}

async function withCluster<T>(name: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect({ kubeconfig: planeLayout(dir, name).cluster(name).kubeconfig, clock });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function write(name: string, object: string): Promise<void> {
  const metadata = { name: object, namespace: 'default' };
  await withCluster(name, (client) =>
    client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata }),
  );
}

async function configMaps(name: string): Promise<readonly string[]> {
  const { items } = await withCluster(name, (client) => client.list(CONFIG_MAPS, { namespace: 'default' }));
  const names = items.map(({ metadata }) => metadata.name);
  return names.filter((each) => each !== 'kube-root-ca.crt').toSorted();
}
