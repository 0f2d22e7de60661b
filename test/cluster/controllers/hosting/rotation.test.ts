/** The rotation of the authorities of a real control plane, by `kubenode hosting` beside a real API server as hub, under the load of clients. */
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AuthoritiesDocument,
  fingerprintOf,
  formatDocument,
} from '../../../../src/api/authorities/document.ts';
import { CLUSTERS, MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Cluster, Machine, MachineAuthorities } from '../../../../src/api/generated/types.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  CONFIG_AUTHORITIES,
  kubeconfigSecret,
  NAMESPACE,
  PRINCIPAL_HOSTING,
} from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { CONFIG_MAPS, NAMESPACES, NODES, SECRETS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { documentOf, signedBy, testAuthority } from '../../../support/authorities.ts';
import { eventually } from '../../../support/eventually.ts';
import { createHostingProcess, type HostingProcess } from '../../../support/hosting/hosting-process.ts';
import { VERSION } from '../../../support/hosting/objects.ts';
import { withClient } from '../../../support/kube/with-client.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const clock = createSystemClock();
const dir = join(tempFolder('rotation'), 'hosting');
const NAME = 'rotating';
/** A phase restarts five members; other tests share the machine. */
const ROTATED = { timeout: 600_000, interval: 250 };
const LIMIT = 1_800_000;

let installed: InstalledServer;
let hub: Client;
let hosting: HostingProcess;
/** Ends the agents that were started. */
const agents: (() => Promise<void>)[] = [];

beforeAll(async () => {
  installed = await startInstalledServer();
  hub = installed.server.client;
  const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  hosting = createHostingProcess({ hub, kubeconfig, dir });
  await hosting.start();
  const spec = {
    environment: 'test',
    deletion: { protection: false },
    hosted: { driver: 'process', version: VERSION },
  };
  await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: NAME }, spec });
}, LIMIT);

afterAll(async () => {
  for (const stop of agents) await stop();
  await hosting?.endAll();
  await installed?.stop();
});

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

/** Resolves to `answers`, or to why the client with that kubeconfig gets no answer, on a connection of its own. */
async function answer(kubeconfigText: string): Promise<string> {
  try {
    await withClient(kubeconfigText, (client) => client.get(NAMESPACES, { name: 'default' }));
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

interface RunningAgent {
  /** The directory of the host. */
  readonly host: string;
  readonly stop: () => Promise<void>;
  readonly start: () => void;
}

/** An agent that has joined with a token of the hosted cluster. */
async function joinedAgent(machine: string): Promise<RunningAgent> {
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
  const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name: machine }, spec };
  const create = async (client: Client): Promise<object> => await client.create(MACHINES, object);
  // An API server that was just started denies what a policy matches until it has read the kind of its parameters.
  const created = async (): Promise<object | undefined> =>
    await withClient(adminKubeconfig(), create).catch((error: unknown) => {
      if (isKubeError(error) && error.code === 'ServerError') return undefined;
      throw error;
    });
  await eventually(created, `the Machine ${machine} was not created`);
  const io = testIo({ env: { KUBECONFIG: planeLayout(dir, NAME).cluster(NAME).kubeconfig } });
  expect([await runCommandLine(io, ['machine', 'token', machine]), io.stdout.length > 0]).toEqual([0, true]);
  const host = tempFolder('agent');
  const bootstrap = join(host, 'bootstrap.json');
  writeFileSync(bootstrap, io.stdout, { mode: 0o600 });
  const args = ['src/cli/main.ts', 'agent', 'run', '--machine', machine, '--port', '0'];
  const place = ['--host', 'sandbox', '--directory', host, '--bootstrap', bootstrap];
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const start = (): void => {
    child = spawn(process.execPath, [...args, ...place], { env: shellEnv(), stdio: 'ignore' });
  };
  start();
  agents.push(stop);
  return { host, stop, start };
}

async function reported(machine: string): Promise<Partial<MachineAuthorities>> {
  const found = await withClient(adminKubeconfig(), (client) =>
    client.get<Machine>(MACHINES, { name: machine }),
  ).catch(() => undefined);
  return found?.status?.agent?.authorities ?? {};
}

async function problemOf(): Promise<string | undefined> {
  return (await reported('m-1')).problem;
}

type Published = Readonly<Record<string, string>>;

/** What agents find. */
async function published(): Promise<Published> {
  const found = await withClient(adminKubeconfig(), (client) => client.get(CONFIG_MAPS, CONFIG_AUTHORITIES));
  return (found as { readonly data?: Published }).data ?? {};
}

/** Writes what agents find, as somebody who may write ConfigMaps. */
async function publish(data: Published): Promise<void> {
  await withClient(adminKubeconfig(), (client) =>
    client.patch(CONFIG_MAPS, CONFIG_AUTHORITIES, { type: 'merge', body: { data } }),
  );
}

/** The SHA-256 of the authority that signs for the cluster now. */
function issuing(): string {
  const pem = readFileSync(join(planeLayout(dir, NAME).cluster(NAME).pkiFolder, 'ca.pem'), 'utf8');
  return fingerprintOf(new X509Certificate(pem));
}

async function waitText(): Promise<string> {
  const found = (await status()).waiting;
  return `${found?.reason} ${found?.message}`;
}

async function removeMachine(name: string): Promise<void> {
  await withClient(adminKubeconfig(), async (client) => {
    const { metadata } = await client.get(MACHINES, { name });
    const annotations = { [ANNOTATION_CONFIRM_DELETE]: metadata.uid };
    const release = { type: 'merge', body: { metadata: { finalizers: [], annotations } } } as const;
    await client.patch(MACHINES, { name }, release);
    await client.delete(MACHINES, metadata, { uid: metadata.uid ?? '' });
    await client.patch(MACHINES, { name }, release).catch(() => undefined);
    const found = (): Promise<unknown> => client.get(MACHINES, { name }).catch(() => 'deleted');
    await expect.poll(found, ROTATED).toBe('deleted');
  });
}

// Each takes minutes: `npm run test:long` runs them. The planner and its execution are tested without a server.
describe.runIf(LONG)('the rotation of the authorities of a real control plane', () => {
  it(
    'HOS-22 is refused with the name of a Node, prepares under load, and is taken back with both chains as before',
    async () => {
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      const former = adminKubeconfig();
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } };
      const created = await withClient(former, (client) => client.create(NODES, node));
      await rotate('first', 'Prepare');
      const waits = async (): Promise<string> => {
        const { waiting } = await status();
        return `${waiting?.reason} ${waiting?.message}`;
      };
      await expect.poll(waits, ROTATED).toMatch(/^RotationNotSupported .*Node worker-1/);
      expect(await condition('ControlPlaneReady')).toBe('True');
      const uid = created.metadata.uid ?? '';
      await withClient(former, (client) => client.delete(NODES, node.metadata, { uid }));

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
      await withClient(former, async (client) => {
        await client.create(CONFIG_MAPS, config);
        await client.create(SECRETS, token);
        const filled = async (): Promise<string | undefined> =>
          textAt(await client.get(SECRETS, token.metadata), 'data', 'token');
        await expect.poll(filled, ROTATED).toBeDefined();
      });
      await rotate('second', 'Prepare');
      await expect.poll(async () => (await status()).caRotation?.step, ROTATED).toBe('Preparing');
      await hosting.kill();
      await hosting.start();
      await reaches('Prepared');
      await rotate('second', 'Complete');
      await expect.poll(async () => (await status()).waiting?.reason, ROTATED).toBe('ClientsBehind');
      expect((await status()).caRotation).toMatchObject({
        clients: { total: 6, moved: 5 },
        behind: ['Secret default/bot'],
      });
      expect([await answer(former), await answer(adminKubeconfig())]).toEqual(['answers', 'answers']);

      await withClient(adminKubeconfig(), (client) =>
        client.patch(SECRETS, token.metadata, { type: 'merge', body: { data: { token: null } } }),
      );
      const following = load(adminKubeconfig);
      await reaches('Completing');
      await hosting.kill();
      await hosting.start();
      await reaches('Completed');
      const { outageSeconds } = await following.stop();
      expect(outageSeconds).toBeLessThan(120);

      const now = adminKubeconfig();
      expect(await answer(now)).toBe('answers');
      // Its client does not trust the server any more; with the new authorities the server does not trust it.
      expect(await answer(former)).not.toBe('answers');
      expect(await answer(withClientOf(former, now))).toBe('Unauthorized');
      const kept = await withClient(now, (client) => client.get(CONFIG_MAPS, config.metadata));
      expect(kept.metadata.name).toBe('kept');
      const secret = await hub.get(SECRETS, { name: kubeconfigSecret(NAME), namespace: NAMESPACE });
      const sync = Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString('utf8');
      expect(await answer(sync)).toBe('answers');
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      expect(await condition('CertificatesValid')).toBe('True');
      // The other test counts the clients.
      await withClient(now, async (client) => {
        const { uid = '' } = (await client.get(SECRETS, token.metadata)).metadata;
        await client.delete(SECRETS, token.metadata, { uid });
      });
    },
    LIMIT,
  );
});

// It takes more minutes than the others: an agent reads once a minute what is published.
describe.runIf(LONG)('the rotation of the authorities of a control plane with an agent', () => {
  it(
    'HOS-22 waits for an agent that is offline, takes it through a return and a whole rotation, and follows no forged ConfigMap',
    async () => {
      await expect.poll(() => condition('ControlPlaneReady'), ROTATED).toBe('True');
      const former = issuing();
      const agent = await joinedAgent('m-1');
      await expect.poll(() => reported('m-1'), ROTATED).toMatchObject({ managed: true, issuer: former });
      await agent.stop();
      await rotate('third', 'Prepare');
      await expect
        .poll(waitText, ROTATED)
        .toMatch(
          /^ClientsBehind 0 of 1 clients trust both .*Machine m-1 \(its agent is silent since 2.*delete their Machines$/,
        );
      expect((await status()).caRotation).toMatchObject({ step: 'Preparing', behind: ['Machine m-1'] });
      const earlier = await published();
      expect(earlier['document']).toContain('"phase":"TrustBoth"');

      agent.start();
      await reaches('Prepared');
      const next = issuing();
      expect(next).not.toBe(former);
      await expect
        .poll(() => reported('m-1'), ROTATED)
        .toMatchObject({ rotation: 'third', phase: 'IssueNew', issuer: next });

      // Hosting would write it again.
      await hosting.kill();
      const file = join(agent.host, 'var/lib/kubenode/pki/cluster-ca.crt');
      const trusted = readFileSync(file, 'utf8');
      const current = await published();
      const forged = testAuthority('forged');
      const authorities = documentOf([forged], { order: 99, cluster: (await cluster()).metadata.uid ?? '' });
      await publish({ ...signedBy([forged], authorities) });
      await expect.poll(problemOf, ROTATED).toContain('keeps no authority that this host trusts');
      // One more authority, under the signatures of the real document.
      const document = JSON.parse(current['document'] ?? '') as AuthoritiesDocument;
      const added = { ...document, authorities: [...document.authorities, forged.certPem] };
      await publish({ ...current, document: formatDocument({ ...added, order: document.order + 1 }) });
      await expect.poll(problemOf, ROTATED).toContain('stays trusted, has signed it');
      // The real document of the phase before.
      await publish(earlier);
      await expect.poll(problemOf, ROTATED).toContain('it is older');
      expect(readFileSync(file, 'utf8')).toBe(trusted);
      expect(await reported('m-1')).toMatchObject({ phase: 'IssueNew', order: document.order, issuer: next });
      await hosting.start();
      await expect.poll(problemOf, ROTATED).toBeUndefined();

      await rotate(null);
      await reaches(undefined);
      expect(issuing()).toBe(former);
      await expect
        .poll(() => reported('m-1'), ROTATED)
        .toMatchObject({ phase: 'TrustOld', issuer: former, trusted: [former] });

      await rotate('fourth', 'Prepare');
      await reaches('Prepared');
      await rotate('fourth', 'Complete');
      await reaches('Completed');
      const last = issuing();
      await expect
        .poll(() => reported('m-1'), ROTATED)
        .toMatchObject({ rotation: 'fourth', phase: 'TrustNew', issuer: last, trusted: [last] });
      expect([former, next]).not.toContain(last);
      await agent.stop();
      await removeMachine('m-1');
    },
    2 * LIMIT,
  );
});

/** Returns the kubeconfig with the client certificate of another one. */
function withClientOf(client: string, server: string): string {
  const fields = ['client-certificate-data', 'client-key-data'].map(
    (name) => new RegExp(`^ +${name}: .*$`, 'm'),
  );
  return fields.reduce((text, field) => text.replace(field, field.exec(client)?.[0] ?? ''), server);
}
