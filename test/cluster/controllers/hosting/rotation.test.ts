/** The rotation of the authorities of a real control plane, by `kubenode hosting` beside a real API server as hub, under the load of clients. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { HOSTING_LEASE, kubeconfigSecret, NAMESPACE, PRINCIPAL_HOSTING } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { CONFIG_MAPS, NAMESPACES, NODES, SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { VERSION } from '../../../support/hosting/objects.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const clock = createSystemClock();
const dir = join(tempFolder('rotation'), 'hosting');
const NAME = 'rotating';
/** A phase restarts five members; other tests share the machine. */
const ROTATED = { timeout: 600_000, interval: 250 };
const LIMIT = 1_800_000;

let installed: InstalledServer;
let hub: Client;
let kubeconfig: string;
let hosting: ChildProcess | undefined;

beforeAll(async () => {
  installed = await startInstalledServer();
  hub = installed.server.client;
  kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  await startHosting();
  const spec = {
    environment: 'test',
    deletion: { protection: false },
    hosted: { driver: 'process', version: VERSION },
  };
  await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: NAME }, spec });
}, LIMIT);

afterAll(async () => {
  await killHosting();
  // Only what runs in our folder.
  const ours = (await listProcesses()).filter(({ command }) =>
    command.some((arg) => arg.includes(`=${dir}/`)),
  );
  for (const { pid } of ours) process.kill(pid, 'SIGKILL');
  await installed?.stop();
});

async function startHosting(): Promise<void> {
  const lease = await hub.get(LEASES, HOSTING_LEASE).catch(() => undefined);
  if (lease) await hub.delete(LEASES, lease.metadata, { uid: lease.metadata.uid ?? '' });
  const args = ['src/cli/main.ts', 'hosting', '--kubeconfig', kubeconfig, '--dir', dir];
  hosting = spawn(process.execPath, args, { env: shellEnv(), stdio: 'ignore' });
}

/** As by SIGKILL: the control plane runs on. */
async function killHosting(): Promise<void> {
  const child = hosting;
  hosting = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

type Hosted = NonNullable<NonNullable<Cluster['status']>['hosted']>;

async function cluster(): Promise<Cluster> {
  return await hub.get<Cluster>(CLUSTERS, { name: NAME });
}

async function status(): Promise<Partial<Hosted>> {
  return (await cluster()).status?.hosted ?? {};
}

async function condition(type: string): Promise<string | undefined> {
  return conditionOf((await cluster()).status?.conditions, type)?.status;
}

async function rotate(id: string | null, target?: 'Prepare' | 'Complete'): Promise<void> {
  const caRotation = id === null ? null : { id, target };
  await hub.patch(
    CLUSTERS,
    { name: NAME },
    { type: 'merge', body: { spec: { hosted: { pki: { caRotation } } } } },
  );
}

async function reaches(step: string | undefined): Promise<void> {
  await expect.poll(async () => (await status()).caRotation?.step, ROTATED).toBe(step);
}

/** The kubeconfig of the administrator as it is now. */
function adminKubeconfig(): string {
  return readFileSync(planeLayout(dir, NAME).cluster(NAME).kubeconfig, 'utf8');
}

async function withCluster<T>(kubeconfigText: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect({ kubeconfigText, clock });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Resolves to `answers`, or to why the client with that kubeconfig gets no answer, on a connection of its own. */
async function answer(kubeconfigText: string): Promise<string> {
  try {
    await withCluster(kubeconfigText, (client) => client.get(NAMESPACES, { name: 'default' }));
    return 'answers';
  } catch (error) {
    return isKubeError(error) ? error.code : String(error);
  }
}

function stopSignal(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

interface Load {
  /** The longest time without an answer, in seconds. */
  readonly stop: () => Promise<{ readonly answers: number; readonly outageSeconds: number }>;
}

/** Asks again and again, each time on a new connection, with the kubeconfig of that moment. */
function load(kubeconfigNow: () => string): Load {
  const { signal, abort } = stopSignal();
  let [answers, outageMs, lastMs] = [0, 0, clock.monotonicMs()];
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      if ((await answer(kubeconfigNow())) === 'answers') {
        answers += 1;
        outageMs = Math.max(outageMs, clock.monotonicMs() - lastMs);
        lastMs = clock.monotonicMs();
      }
      await clock.sleep(100);
    }
  };
  const running = run();
  return {
    stop: async () => {
      abort();
      await running;
      return { answers, outageSeconds: Math.max(outageMs, clock.monotonicMs() - lastMs) / 1000 };
    },
  };
}

// Each takes minutes: `npm run test:long` runs them. The planner and its execution are tested without a server.
describe.runIf(LONG)('the rotation of the authorities of a real control plane', () => {
  it(
    'HOS-22 is refused with the name of a Node, prepares under load, and is taken back with both chains as before',
    async () => {
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      const former = adminKubeconfig();
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } };
      const created = await withCluster(former, (client) => client.create(NODES, node));
      await rotate('first', 'Prepare');
      const waits = async (): Promise<string> => {
        const { waiting } = await status();
        return `${waiting?.reason} ${waiting?.message}`;
      };
      await expect.poll(waits, ROTATED).toMatch(/^RotationNotSupported .*Node worker-1/);
      expect(await condition('ControlPlaneReady')).toBe('True');
      const uid = created.metadata.uid ?? '';
      await withCluster(former, (client) => client.delete(NODES, node.metadata, { uid }));

      // A copy from before, and one that is read again each time.
      const loads = [load(() => former), load(adminKubeconfig)];
      await reaches('Prepared');
      const results = await Promise.all(loads.map((each) => each.stop()));
      for (const { answers, outageSeconds } of results) {
        expect(answers).toBeGreaterThan(10);
        expect(outageSeconds).toBeLessThan(60);
      }
      const prepared = adminKubeconfig();
      expect(prepared).not.toBe(former);
      expect([await answer(former), await answer(prepared)]).toEqual(['answers', 'answers']);
      expect((await status()).caRotation).toMatchObject({ clients: { total: 5, moved: 5 }, behind: [] });

      await rotate(null);
      await reaches(undefined);
      expect([await answer(former), await answer(adminKubeconfig())]).toEqual(['answers', 'answers']);
      expect(await answer(prepared)).toBe('Unauthorized');
      expect(await condition('ControlPlaneReady')).toBe('True');
    },
    LIMIT,
  );

  it(
    'HOS-22 completes when a token that it names is signed again, also when hosting is killed, and then refuses the former chain',
    async () => {
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      const former = adminKubeconfig();
      const token = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'bot',
          namespace: 'default',
          annotations: { 'kubernetes.io/service-account.name': 'default' },
        },
        type: 'kubernetes.io/service-account-token',
      };
      const config = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'kept', namespace: 'default' },
      };
      await withCluster(former, async (client) => {
        await client.create(CONFIG_MAPS, config);
        await client.create(SECRETS, token);
        const filled = async (): Promise<string | undefined> =>
          textAt(await client.get(SECRETS, token.metadata), 'data', 'token');
        await expect.poll(filled, ROTATED).toBeDefined();
      });
      await rotate('second', 'Prepare');
      await expect.poll(async () => (await status()).caRotation?.step, ROTATED).toBe('Preparing');
      await killHosting();
      await startHosting();
      await reaches('Prepared');
      await rotate('second', 'Complete');
      await expect.poll(async () => (await status()).waiting?.reason, ROTATED).toBe('ClientsBehind');
      expect((await status()).caRotation).toMatchObject({
        clients: { total: 6, moved: 5 },
        behind: ['Secret default/bot'],
      });
      expect([await answer(former), await answer(adminKubeconfig())]).toEqual(['answers', 'answers']);

      await withCluster(adminKubeconfig(), (client) =>
        client.patch(SECRETS, token.metadata, { type: 'merge', body: { data: { token: null } } }),
      );
      const following = load(adminKubeconfig);
      await reaches('Completing');
      await killHosting();
      await startHosting();
      await reaches('Completed');
      const { outageSeconds } = await following.stop();
      expect(outageSeconds).toBeLessThan(120);

      const now = adminKubeconfig();
      expect(await answer(now)).toBe('answers');
      // Its client does not trust the server any more; with the new authorities the server does not trust it.
      expect(await answer(former)).not.toBe('answers');
      expect(await answer(withClientOf(former, now))).toBe('Unauthorized');
      const kept = await withCluster(now, (client) => client.get(CONFIG_MAPS, config.metadata));
      expect(kept.metadata.name).toBe('kept');
      const secret = await hub.get(SECRETS, { name: kubeconfigSecret(NAME), namespace: NAMESPACE });
      const sync = Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString('utf8');
      expect(await answer(sync)).toBe('answers');
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      expect(await condition('CertificatesValid')).toBe('True');
      // The other test counts the clients.
      await withCluster(now, async (client) => {
        const { uid = '' } = (await client.get(SECRETS, token.metadata)).metadata;
        await client.delete(SECRETS, token.metadata, { uid });
      });
    },
    LIMIT,
  );
});

/** Returns the kubeconfig with the client certificate of another one. */
function withClientOf(client: string, server: string): string {
  const fields = ['client-certificate-data', 'client-key-data'].map(
    (name) => new RegExp(`^ +${name}: .*$`, 'm'),
  );
  return fields.reduce((text, field) => text.replace(field, field.exec(client)?.[0] ?? ''), server);
}
