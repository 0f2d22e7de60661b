/** The rotation of the authorities of a real control plane with two API servers and three members of etcd, with clients that notice an outage. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { PRINCIPAL_HOSTING } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { readyPortsIn } from '../../../../src/controllers/hosting/balancer/health.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import { readRotation } from '../../../../src/controllers/hosting/drivers/process/rotation/record.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { isKubeError } from '../../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { NAMESPACES } from '../../../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { type ApiServersState, readState } from '../../../../src/local/state.ts';
import { httpGet } from '../../../../src/os/net/http-get.ts';
import { type LoadReport, startClientLoad } from '../../../support/hosting/client-load.ts';
import { createHostingProcess, type HostingProcess } from '../../../support/hosting/hosting-process.ts';
import { VERSION } from '../../../support/hosting/objects.ts';
import { withClient } from '../../../support/kube/with-client.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const dir = join(tempFolder('rotation-servers'), 'hosting');
const NAME = 'two-servers';
const layout = planeLayout(dir, NAME);
/** A phase starts eight members again; other tests share the machine. */
const ROTATED = { timeout: 900_000, interval: 250 };
const LIMIT = 1_800_000;

let installed: InstalledServer;
let hub: Client;
let hosting: HostingProcess;

// It takes minutes: `npm run test:long` runs it. Planner, files and crashes are tested without a server.
describe.runIf(LONG)('the rotation of the authorities of two real API servers', () => {
  beforeAll(async () => {
    installed = await startInstalledServer();
    hub = installed.server.client;
    const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
    hosting = createHostingProcess({ hub, kubeconfig, dir });
    await hosting.start();
    const spec = {
      environment: 'test',
      deletion: { protection: false },
      hosted: { driver: 'process', version: VERSION, replicas: 2, etcd: { replicas: 3 } },
    };
    await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: NAME }, spec });
  }, LIMIT);

  afterAll(async () => {
    await hosting?.endAll();
    await installed?.stop();
  });

  it(
    'HOS-22 is taken back while one of them issues by the new authorities, and clients notice nothing',
    async () => {
      await isReady();
      const former = adminKubeconfig();
      const load = await startClientLoad(dir, NAME);
      await change({ pki: { caRotation: { id: 'first', target: 'Prepare' } } });
      await expect.poll(serversInPhase, { ...ROTATED, interval: 50 }).toBe('IssueNew 1');
      await change({ pki: { caRotation: null } });
      await reaches(undefined);
      const report = await load.stop();
      print('taken back', report);
      expectNoOutage(report);
      expect(await answersOf(former)).toEqual(['answers', 'answers']);
      expect(await answersOf(adminKubeconfig())).toEqual(['answers', 'answers']);
      await isReady();
    },
    LIMIT,
  );

  it(
    'HOS-22 is prepared and completed, clients notice nothing, and the port of each refuses the former kubeconfig',
    async () => {
      await isReady();
      const former = adminKubeconfig();
      const preparing = await startClientLoad(dir, NAME);
      await change({ pki: { caRotation: { id: 'second', target: 'Prepare' } } });
      await reaches('Prepared');
      const prepared = await preparing.stop();
      print('prepared', prepared);
      expectNoOutage(prepared);
      expect(await answersOf(former)).toEqual(['answers', 'answers']);
      expect(await answersOf(adminKubeconfig())).toEqual(['answers', 'answers']);
      expect((await status()).caRotation).toMatchObject({ clients: { total: 8, moved: 8 }, behind: [] });

      await change({ replicas: 3 });
      await expect.poll(async () => (await status()).waiting?.reason, ROTATED).toBe('RotationInWork');
      await change({ replicas: 2 });

      const completing = await startClientLoad(dir, NAME);
      await change({ pki: { caRotation: { id: 'second', target: 'Complete' } } });
      await expect.poll(serversInPhase, { ...ROTATED, interval: 50 }).toBe('TrustNew 1');
      await hosting.kill();
      await hosting.start();
      await reaches('Completed');
      const completed = await completing.stop();
      print('completed', completed);
      expectNoOutage(completed);

      const now = adminKubeconfig();
      expect(await answersOf(now)).toEqual(['answers', 'answers']);
      expect(await answersOf(withClientOf(former, now))).toEqual(['Unauthorized', 'Unauthorized']);
      // Its client trusts the former authority only, by which none of them serves.
      expect(await answersOf(former)).not.toContain('answers');
      const { ports, balancerPorts } = await servers();
      for (const port of balancerPorts) {
        await expect.poll(() => readyBy(port), ROTATED).toEqual(ports.slice(0, 2));
      }
      await isReady();
    },
    LIMIT,
  );
});

async function change(hosted: object): Promise<void> {
  await hub.patch(CLUSTERS, { name: NAME }, { type: 'merge', body: { spec: { hosted } } });
}

type Hosted = NonNullable<NonNullable<Cluster['status']>['hosted']>;

async function status(): Promise<Partial<Hosted>> {
  return (await hub.get<Cluster>(CLUSTERS, { name: NAME })).status?.hosted ?? {};
}

async function reaches(step: string | undefined): Promise<void> {
  await expect.poll(async () => (await status()).caRotation?.step, ROTATED).toBe(step);
}

async function readyStatus(): Promise<string | undefined> {
  const found = await hub.get<Cluster>(CLUSTERS, { name: NAME });
  return conditionOf(found.status?.conditions, 'ControlPlaneReady')?.status;
}

async function isReady(): Promise<void> {
  await expect.poll(readyStatus, ROTATED).toBe('True');
}

/** Returns the phase, and how many API servers were started in it. */
async function serversInPhase(): Promise<string> {
  const rotation = await readRotation(layout.root);
  const names = ['kube-apiserver', 'kube-apiserver-1'] as const;
  const started = names.filter((member) => rotation?.members[member] === rotation?.sequence);
  return `${rotation?.phase} ${started.length}`;
}

function adminKubeconfig(): string {
  return readFileSync(layout.cluster(NAME).kubeconfig, 'utf8');
}

async function servers(): Promise<ApiServersState> {
  const found = (await readState(layout.stateFile))?.clusters[0]?.apiServers;
  if (!found) throw new Error('expected several API servers');
  return found;
}

/** Asks each API server by its own port. Resolves to `answers`, or to why there is no answer. */
async function answersOf(kubeconfigText: string): Promise<readonly string[]> {
  const { ports, replicas } = await servers();
  const own = ports.slice(0, replicas).map((port) => kubeconfigText.replace(/(server: .*:)\d+/, `$1${port}`));
  return await Promise.all(own.map(answer));
}

async function answer(kubeconfigText: string): Promise<string> {
  try {
    await withClient(kubeconfigText, (client) => client.get(NAMESPACES, { name: 'default' }));
    return 'answers';
  } catch (error) {
    return isKubeError(error) ? error.code : String(error);
  }
}

async function readyBy(healthPort: number): Promise<readonly number[] | undefined> {
  const url = `http://127.0.0.1:${healthPort}/readyz`;
  return readyPortsIn((await httpGet(url, AbortSignal.timeout(5000))).body);
}

/** Returns the kubeconfig with the client certificate of another one. */
function withClientOf(client: string, server: string): string {
  const fields = ['client-certificate-data', 'client-key-data'].map(
    (name) => new RegExp(`^ +${name}: .*$`, 'm'),
  );
  return fields.reduce((text, field) => text.replace(field, field.exec(client)?.[0] ?? ''), server);
}

function expectNoOutage({ errors, requests, watchGapMs }: LoadReport): void {
  expect(requests).toBeGreaterThan(1000);
  expect(errors.length).toBeLessThanOrEqual(requests / 1000);
  expect(watchGapMs).toBeLessThan(10_000);
}

function print(what: string, { errors, ...report }: LoadReport): void {
  const numbers = Object.entries(report).map(([name, value]) => `${name} ${Math.round(value)}`);
  process.stdout.write(
    `${what}: errors ${errors.length}, ${numbers.join(', ')}\n${errors.slice(0, 10).join('\n')}\n`,
  );
}
