/** `kubenode hosting` with the installed rights, on a real API server as hub, and control planes of real processes. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Cluster, ClusterHostedStatus, HostedAddon } from '../../../../src/api/generated/types.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  kubeconfigSecret,
  NAMESPACE,
  NAMESPACE_KUBE_SYSTEM,
  PRINCIPAL_HOSTING,
} from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import { createClusterInside } from '../../../../src/controllers/hosting/inside/execute.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { isKubeError, unlessMissing } from '../../../../src/kube/client/errors.ts';
import { conditionOf, conditionStatus } from '../../../../src/kube/objects/conditions.ts';
import { CONFIG_MAPS, SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { etcdDataFolder } from '../../../../src/local/layout.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { corednsManifests } from '../../../support/hosting/coredns.ts';
import { createHostingProcess, type HostingProcess } from '../../../support/hosting/hosting-process.ts';
import { VERSION } from '../../../support/hosting/objects.ts';
import { startPublisher } from '../../../support/publisher.ts';
import { LONG, randomFrom, SEED } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';
import { applyFleetDefault, readLedger } from '../../defender/objects.ts';

const clock = createSystemClock();
const dir = join(tempFolder('hosting'), 'hosting');
/** A control plane is ready within 20 s on a machine of two cores, and much later while other tests run. */
const CREATED = { interval: 250 };
const LIMIT = 600_000;
const CYCLES = LONG ? 30 : 1;

let installed: InstalledServer;
let hub: Client;
let hosting: HostingProcess;
let made = 0;

beforeAll(async () => {
  installed = await startInstalledServer();
  hub = installed.server.client;
  const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  hosting = createHostingProcess({ hub, kubeconfig, dir });
});

afterEach(async () => {
  await hosting.kill();
  const { items } = await hub.list<Cluster>(CLUSTERS);
  if (items.length > 0) {
    await hosting.start();
    for (const { metadata } of items) await remove(metadata.name, true);
    await hosting.kill();
  }
});

afterAll(async () => {
  // What a failed test left behind: only what runs in our folder.
  for (const { pid } of await ownProcesses()) process.kill(pid, 'SIGKILL');
  await installed?.stop();
});

async function create(spec: object = {}): Promise<string> {
  made += 1;
  const name = `ci-${made}`;
  await hub.create(CLUSTERS, {
    apiVersion: API_VERSION,
    kind: 'Cluster',
    metadata: { name },
    spec: { environment: 'test', hosted: { driver: 'process', version: VERSION }, ...spec },
  });
  return name;
}

async function read(name: string): Promise<Cluster | undefined> {
  try {
    return await hub.get<Cluster>(CLUSTERS, { name });
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function status(name: string, type: string): Promise<string> {
  return conditionStatus((await read(name))?.status?.conditions, type);
}

async function isReady(name: string): Promise<void> {
  // With the message, so that a failure tells what it waited for.
  const ready = async (): Promise<string> => {
    const condition = conditionOf((await read(name))?.status?.conditions, 'ControlPlaneReady');
    return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
  };
  await expect.poll(ready, CREATED).toMatch(/^True /);
}

/** As a person: with the UID that the policy asks for. */
async function remove(name: string, force = false): Promise<void> {
  await confirmDelete(name, force);
  await expect.poll(() => read(name), CREATED).toBeUndefined();
}

async function confirmDelete(name: string, force = false): Promise<void> {
  const found = await read(name);
  if (!found) return;
  const annotations = { [ANNOTATION_CONFIRM_DELETE]: found.metadata.uid };
  const body = { metadata: { annotations }, ...(force ? { spec: { deletion: { force } } } : {}) };
  await hub.patch(CLUSTERS, { name }, { type: 'merge', body });
  await hub.delete(CLUSTERS, found.metadata, { uid: found.metadata.uid ?? '' });
}

async function ownProcesses(): Promise<
  readonly { readonly pid: number; readonly command: readonly string[] }[]
> {
  const all = await listProcesses();
  return all.filter(({ command }) => command.some((argument) => argument.includes(`=${dir}/`)));
}

async function clientOf(name: string): Promise<Client> {
  return await connect({ clock, kubeconfig: planeLayout(dir, name).cluster(name).kubeconfig });
}

async function withCluster<T>(client: Promise<Client>, work: (client: Client) => Promise<T>): Promise<T> {
  const connected = await client;
  try {
    return await work(connected);
  } finally {
    await connected.close();
  }
}

async function secretOf(name: string): Promise<KubeObject | undefined> {
  const { items } = await hub.list(SECRETS, { namespace: NAMESPACE });
  return items.find(({ metadata }) => metadata.name === kubeconfigSecret(name));
}

async function hostedOf(name: string): Promise<ClusterHostedStatus> {
  return (await read(name))?.status?.hosted ?? {};
}

/** The serial that each member serves, as hosting observed it on the wire. */
async function servedBy(name: string): Promise<Readonly<Record<string, string>>> {
  const { certificates = [] } = await hostedOf(name);
  return Object.fromEntries(
    certificates.flatMap((each) => (each.serial === undefined ? [] : [[each.name, each.serial]])),
  );
}

async function ownPids(): Promise<readonly number[]> {
  return (await ownProcesses()).map(({ pid }) => pid).toSorted((a, b) => a - b);
}

async function uidOf(name: string): Promise<string> {
  return (await read(name))?.metadata.uid ?? '';
}

async function syncKubeconfig(name: string): Promise<string> {
  const encoded = textAt(await secretOf(name), 'data', 'kubeconfig') ?? '';
  return Buffer.from(encoded, 'base64').toString();
}

/** Writes one object after the other while the work is done. */
async function writeUntil(client: Client, work: () => Promise<void>): Promise<Writes> {
  const done = new AbortController();
  const failures: string[] = [];
  let count = 0;
  const write = async (): Promise<void> => {
    for (; !done.signal.aborted; count += 1) {
      const metadata = { name: 'load', namespace: NAMESPACE };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { count: `${count}` } };
      const written = client.apply(CONFIG_MAPS, object, { fieldManager: 'load', force: true });
      await written.catch((error: unknown) => failures.push(`${count}: ${String(error)}`));
    }
  };
  const writing = write();
  try {
    await work();
  } finally {
    done.abort();
    await writing;
  }
  return { count, failures };
}

interface Writes {
  readonly count: number;
  readonly failures: readonly string[];
}

/** What a write gets that a member had in hand when it died: the API server cannot know whether it is in the log, and does not repeat it. */
const IN_HAND = /connection reset|Unavailable|leader changed|timed out/;

/** What is left of all control planes: processes, folders, claims of ports. */
async function leftovers(): Promise<readonly string[]> {
  const files = existsSync(dir)
    ? ['clusters', 'ports'].flatMap((name) =>
        existsSync(join(dir, name)) ? readdirSync(join(dir, name)) : [],
      )
    : [];
  return [...(await ownProcesses()).map(({ command }) => command.join(' ')), ...files];
}

/** As a person who knows that no agent will ever answer. The controller may add its finalizer at any time. */
async function deleteByForce(client: Client, name: string): Promise<void> {
  const { metadata } = await client.get(MACHINES, { name });
  const annotations = { [ANNOTATION_CONFIRM_DELETE]: metadata.uid };
  const release = async (more: object = {}): Promise<unknown> =>
    await client.patch(
      MACHINES,
      { name },
      { type: 'merge', body: { metadata: { finalizers: [], ...more } } },
    );
  await release({ annotations });
  await client.delete(MACHINES, metadata, { uid: metadata.uid ?? '' });
  await release().catch(() => undefined);
}

function machine(name: string): KubeObject {
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
  return { apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec };
}

const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'all', per: 'Cluster', risks: ['Node'], max: 100 }],
};
const FREEZE = {
  name: 'sale',
  from: '2020-01-01T00:00:00Z',
  until: '2099-01-01T00:00:00Z',
  reason: 'sale',
  risks: ['Node'],
};

/** Deletes a Cluster whose control plane runs on during a freeze. Resolves to its name when the freeze is over. */
async function deletedInFreeze(): Promise<string> {
  await applyFleetDefault(installed, { ...POLICY, freezes: [FREEZE] });
  try {
    await hosting.start();
    const name = await create();
    await isReady(name);
    await confirmDelete(name);
    const message = async (): Promise<string | undefined> => (await hostedOf(name)).waiting?.message;
    await expect.poll(message, CREATED).toMatch(/^Freeze: freeze sale until 2099.*end the freeze in git$/);
    expect(await ownProcesses()).toHaveLength(5);
    return name;
  } finally {
    await applyFleetDefault(installed, POLICY);
  }
}

describe('kubenode hosting', () => {
  it('HOS-52 makes a cluster that accepts machines and that sync reaches with its own rights', {
    timeout: LIMIT,
  }, async () => {
    await hosting.start();
    const name = await create();
    await isReady(name);
    const { components = [], certificates = [] } = await hostedOf(name);
    expect(components.map((each) => each.ready)).toEqual([1, 1, 1, 1, 1]);
    const served = certificates.filter(({ serial }) => serial !== undefined);
    expect(served.map(({ serial }) => serial)).toEqual(
      Array.from({ length: 4 }, () => expect.stringMatching(/^[0-9A-F]{9,}$/) as string),
    );
    await withCluster(clientOf(name), (client) => client.create(MACHINES, machine('m-1')));
    const admin = readFileSync(planeLayout(dir, name).cluster(name).kubeconfig, 'utf8');
    const inside = createClusterInside(clock);
    const never = new AbortController().signal;
    const complete = { isInstalled: true, controllersLead: true, machines: ['m-1'], machineSets: [] };
    expect(await inside.read(admin, never)).toEqual(complete);

    const text = await syncKubeconfig(name);
    await withCluster(connect({ clock, kubeconfigText: text }), async (sync) => {
      expect((await sync.list(MACHINES)).items.map(({ metadata }) => metadata.name)).toEqual(['m-1']);
      const forbidden = sync.list(SECRETS, { namespace: NAMESPACE_KUBE_SYSTEM });
      await expect(forbidden).rejects.toMatchObject({ code: 'Forbidden' });
    });

    // HOS-03: the machine goes before its control plane.
    await expect(hub.delete(CLUSTERS, { name }, { uid: await uidOf(name) })).rejects.toThrow('protected');
    const removed = remove(name);
    await expect.poll(async () => (await hostedOf(name)).waiting?.reason, CREATED).toBe('MachinesLeft');
    await withCluster(clientOf(name), (client) => deleteByForce(client, 'm-1'));
    await removed;
    await expect(inside.read(admin, never)).rejects.toThrow('connection was refused');
    expect(await leftovers()).toEqual([]);
    expect(await secretOf(name)).toBeUndefined();
    expect(hosting.log()).not.toContain('Forbidden');
  });

  it('HOS-21 renews the certificates of members that run, which serve them, and the kubeconfig of sync', {
    timeout: LIMIT,
  }, async () => {
    await hosting.start();
    const name = await create();
    await isReady(name);
    const [before, pids, text] = [await servedBy(name), await ownPids(), await syncKubeconfig(name)];
    expect(Object.keys(before)).toHaveLength(4);
    const body = { spec: { hosted: { pki: { leafLifetimeSeconds: 3600 } } } };
    await hub.patch(CLUSTERS, { name }, { type: 'merge', body });
    const unchanged = async (): Promise<readonly string[]> => {
      const now = await servedBy(name);
      return Object.keys(before).filter((member) => now[member] === before[member]);
    };
    await expect.poll(unchanged, CREATED).toEqual([]);
    await expect.poll(() => status(name, 'CertificatesValid'), CREATED).toBe('True');
    await expect.poll(() => syncKubeconfig(name), CREATED).not.toBe(text);
    expect(await ownPids()).toEqual(pids);
    const { certificates = [] } = await hostedOf(name);
    const ends = certificates.flatMap(({ renewAt, notAfter }) =>
      renewAt === undefined ? [] : [Date.parse(notAfter ?? '')],
    );
    expect(ends.length).toBeGreaterThan(8);
    expect(Math.max(...ends)).toBeLessThanOrEqual(
      Date.parse((await read(name))?.metadata.creationTimestamp ?? '') + LIMIT + 3_600_000,
    );
    await withCluster(connect({ clock, kubeconfigText: await syncKubeconfig(name) }), async (sync) => {
      expect((await sync.list(MACHINES)).items).toEqual([]);
    });
    expect(await status(name, 'ControlPlaneUpToDate')).toBe('True');
    await remove(name);
    expect(await leftovers()).toEqual([]);
  });

  it('HOS-04 HOS-02 finds its processes again after a kill, and leaves nothing, at any moment', {
    timeout: LIMIT * (CYCLES + 1),
  }, async () => {
    const random = randomFrom(SEED);
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await hosting.start();
      const name = await create();
      const acts = 1 + Math.floor(random() * 8);
      await expect
        .poll(() => hosting.log().split('"hosting acts"').length - 1, CREATED)
        .toBeGreaterThanOrEqual(acts);
      await hosting.kill();
      const authority = join(planeLayout(dir, name).cluster(name).pkiFolder, 'ca.crt');
      const before = existsSync(authority) ? readFileSync(authority, 'utf8') : undefined;
      const running = new Set((await ownProcesses()).map(({ pid }) => pid));
      await hosting.start();
      if (random() < 0.7) await isReady(name);
      const after = (await ownProcesses()).map(({ pid }) => pid);
      expect([...running].filter((pid) => !after.includes(pid))).toEqual([]);
      const kept = before === undefined ? undefined : readFileSync(authority, 'utf8');
      expect(kept).toBe(before);
      const removed = remove(name);
      if (random() < 0.5) {
        await hosting.kill();
        await hosting.start();
      }
      await removed;
      expect(await leftovers()).toEqual([]);
      expect(await secretOf(name)).toBeUndefined();
      await hosting.kill();
    }
  });

  it('HOS-03 destroys a control plane with a grant of the Defender, when the freeze that held it is over', {
    timeout: LIMIT,
  }, async () => {
    const removed = await deletedInFreeze();
    await expect.poll(() => read(removed), CREATED).toBeUndefined();
    expect(await leftovers()).toEqual([]);
    const { grants } = (await readLedger(hub)).spec;
    expect(grants[`cluster:${removed}`]).toMatchObject({
      state: 'Settled',
      outcome: 'Succeeded',
      holder: { kind: 'Cluster', name: removed },
    });
    expect(hosting.log()).not.toContain('Forbidden');
  });

  it.runIf(LONG)(
    'HOS-33 serves writes while a member of etcd loses its folder and is replaced, but for what it had in hand',
    {
      timeout: LIMIT,
    },
    async () => {
      await hosting.start();
      const etcd = { replicas: 3 };
      const name = await create({ hosted: { driver: 'process', version: VERSION, etcd } });
      await isReady(name);
      await expect.poll(() => status(name, 'EtcdReady'), CREATED).toBe('True');
      const folder = etcdDataFolder(planeLayout(dir, name), 1);
      const replaced = async (): Promise<boolean> => {
        const isServed = (await hostedOf(name)).etcd?.ready === 3;
        return (
          isServed &&
          (await status(name, 'EtcdReady')) === 'True' &&
          existsSync(join(folder, 'member', 'wal'))
        );
      };
      const { count, failures } = await withCluster(clientOf(name), (client) =>
        writeUntil(client, async () => {
          const member = (await ownProcesses()).find(({ command }) =>
            command.includes(`--data-dir=${folder}`),
          );
          process.kill(member?.pid ?? 0, 'SIGKILL');
          rmSync(folder, { recursive: true });
          await expect.poll(replaced, CREATED).toBe(true);
        }),
      );
      expect(failures.filter((each) => !IN_HAND.test(each))).toEqual([]);
      expect(failures.length).toBeLessThanOrEqual(Math.max(3, count / 1000));
      expect(count).toBeGreaterThan(100);
      await remove(name);
      expect(await leftovers()).toEqual([]);
    },
  );

  it.runIf(LONG)(
    'HOS-51 installs an add-on, repairs and upgrades it, and removes it when it is dropped',
    {
      timeout: LIMIT,
    },
    async () => {
      const site = await startPublisher();
      const declare = (text: string): HostedAddon => {
        site.files.set('/dns.yaml', text);
        const sha256 = createHash('sha256').update(text).digest('hex');
        return { name: 'dns', url: `${site.url}/dns.yaml`, sha256, enabled: true };
      };
      await hosting.start();
      const first = declare(corednsManifests('1.12.0'));
      const name = await create({ hosted: { driver: 'process', version: VERSION, addons: [first] } });
      const change = (addons: readonly HostedAddon[]): Promise<unknown> =>
        hub.patch(CLUSTERS, { name }, { type: 'merge', body: { spec: { hosted: { addons } } } });
      await isReady(name);
      const addonsReady = async (): Promise<string> => {
        const condition = conditionOf((await read(name))?.status?.conditions, 'AddonsReady');
        return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
      };
      await expect
        .poll(addonsReady, CREATED)
        .toMatch(/^Unknown NoNodesYet: .*Deployment kube-system\/coredns/);
      await withCluster(clientOf(name), async (client) => {
        const DEPLOYMENTS = await client.resourceFor('apps/v1', 'Deployment');
        const coredns = { name: 'coredns', namespace: NAMESPACE_KUBE_SYSTEM };
        const text = async (): Promise<string> =>
          JSON.stringify((await unlessMissing(client.get(DEPLOYMENTS, coredns))) ?? 'missing');
        const found = await client.get(DEPLOYMENTS, coredns);
        await client.delete(DEPLOYMENTS, coredns, { uid: found.metadata.uid ?? '' });
        await expect.poll(text, CREATED).toContain('coredns:1.12.0');
        await change([{ ...first, sha256: '0'.repeat(64) }]);
        await expect
          .poll(addonsReady, CREATED)
          .toMatch(/^False AddonDigestDiffers: dns: expected SHA-256 0000/);
        expect(await status(name, 'ControlPlaneReady')).toBe('True');
        await change([declare(corednsManifests('1.12.1'))]);
        await expect.poll(text, CREATED).toContain('coredns:1.12.1');
        await change([]);
        await expect.poll(addonsReady, CREATED).toBe('True NoAddons: no add-ons are declared');
        expect(await text()).toBe('"missing"');
      });
      expect(hosting.log()).not.toContain('Forbidden');
    },
  );

  it('HOS-06 reports what blocks a control plane, and does nothing else', { timeout: LIMIT }, async () => {
    await hosting.start();
    const name = await create({ hosted: { driver: 'process', version: 'v1.36.99' } });
    await expect.poll(() => status(name, 'ControlPlaneStalled'), CREATED).toBe('True');
    expect((await read(name))?.status?.hosted?.waiting).toMatchObject({ reason: 'VersionNotAvailable' });
    expect(await leftovers()).toEqual([]);
  });
});
