/**
 * What the administrator of a hosted cluster, and other users of the machine, can do to the hub and to another hosted cluster: nothing. Two
 * control planes of real processes, and a real API server as hub.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTERS, DEFENDER_POLICIES } from '../../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { KILL_SWITCH, kubeconfigSecret, NAMESPACE, PRINCIPAL_HOSTING } from '../../../../src/api/names.ts';
import { API_VERSION } from '../../../../src/api/version.ts';
import { planeLayout } from '../../../../src/controllers/hosting/drivers/process/folder.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { conditionStatus } from '../../../../src/kube/objects/conditions.ts';
import {
  CONFIG_MAPS,
  NAMESPACES,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '../../../../src/kube/objects/core-kinds.ts';
import { textAt, valueAt } from '../../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../../src/local/pki/principal.ts';
import { listPorts } from '../../../../src/local/processes/desired-state.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { readState } from '../../../../src/local/state.ts';
import { pollUntil } from '../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { VERSION } from '../../../support/hosting/objects.ts';
import { shellEnv } from '../../../support/local-fleet.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../../api/installed-server.ts';

const clock = createSystemClock();
const dir = join(tempFolder('isolation'), 'hosting');
const CREATED = { timeout: 600_000, interval: 500 };
const LIMIT = 600_000;
/** Larger files are logs and the data of etcd. */
const MAX_KEY_BYTES = 65_536;

let installed: InstalledServer;
let hub: Client;
let hosting: ChildProcess;

beforeAll(async () => {
  installed = await startInstalledServer();
  hub = installed.server.client;
  const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
  const args = ['src/cli/main.ts', 'hosting', '--kubeconfig', kubeconfig, '--dir', dir];
  hosting = spawn(process.execPath, args, { env: shellEnv(), stdio: 'ignore' });
  for (const name of ['ours', 'other']) {
    const spec = { environment: 'test', hosted: { driver: 'process', version: VERSION } };
    await hub.create(CLUSTERS, { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name }, spec });
  }
  const isReady = async (): Promise<boolean> => {
    const { items } = await hub.list<Cluster>(CLUSTERS);
    return items.every(({ status }) => conditionStatus(status?.conditions, 'ControlPlaneReady') === 'True');
  };
  const deadlineMs = clock.monotonicMs() + CREATED.timeout;
  const areReady = await pollUntil(isReady, { clock, everyMs: CREATED.interval, deadlineMs });
  if (!areReady) throw new Error('the two control planes are not ready in time');
}, LIMIT);

afterAll(async () => {
  if (hosting && hosting.exitCode === null) {
    hosting.kill('SIGKILL');
    await once(hosting, 'exit');
  }
  // Only what runs in our folder.
  for (const { pid, command } of await listProcesses()) {
    if (command.some((argument) => argument.includes(`=${dir}/`))) process.kill(pid, 'SIGKILL');
  }
  await installed?.stop();
});

type Place = 'hub' | 'other';
type Credential = 'its administrator' | 'its sync' | 'a token of it';

function adminFile(cluster: string): string {
  return readFileSync(planeLayout(dir, cluster).cluster(cluster).kubeconfig, 'utf8');
}

async function syncFile(cluster: string): Promise<string> {
  const secret = await hub.get(SECRETS, { name: kubeconfigSecret(cluster), namespace: NAMESPACE });
  return Buffer.from(textAt(secret, 'data', 'kubeconfig') ?? '', 'base64').toString();
}

function withOurs<T>(work: (client: Client) => Promise<T>): Promise<T> {
  return withText(adminFile('ours'), work);
}

async function withText<T>(kubeconfigText: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect({ kubeconfigText, clock });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** A token of the strongest account that the administrator of the cluster can make. */
async function tokenUser(): Promise<unknown> {
  const account = { name: 'kubenode-sync', namespace: NAMESPACE };
  const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: account, spec: {} };
  const made = await withOurs((ours) => ours.create(SERVICE_ACCOUNTS, token, { subresource: 'token' }));
  return { token: textAt(made, 'status', 'token') };
}

async function userOf(credential: Credential): Promise<unknown> {
  if (credential === 'a token of it') return await tokenUser();
  const text = credential === 'its sync' ? await syncFile('ours') : adminFile('ours');
  return valueAt(parse(text), 'users', 0, 'user');
}

/** The server and the CA of the place, with the user of our cluster. */
async function mixed(credential: Credential, place: Place): Promise<string> {
  const theirs: unknown = parse(
    place === 'hub' ? readFileSync(installed.server.kubeconfig, 'utf8') : adminFile('other'),
  );
  const cluster = valueAt(theirs, 'clusters', 0, 'cluster');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user: await userOf(credential) }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  });
}

const OBJECT = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'attack', namespace: 'default' },
  data: {},
};
const ATTACKS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  'reads Secrets': (client) => client.list(SECRETS, { namespace: NAMESPACE }),
  'reads Clusters': (client) => client.list(CLUSTERS),
  'writes an object': (client) => client.create(CONFIG_MAPS, OBJECT),
  'takes the part of an administrator': (client) =>
    client.list(NAMESPACES, { impersonate: { user: 'admin', groups: ['system:masters'] } }),
};

const ROWS = (['hub', 'other'] as const).flatMap((place) =>
  (['its administrator', 'its sync', 'a token of it'] as const).flatMap((credential) =>
    Object.keys(ATTACKS).map((attack) => [credential, place, attack] as const),
  ),
);

async function refusal(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => 'allowed',
    (error: unknown) => (error instanceof KubeError ? error.code : String(error)),
  );
}

/** Asks without a certificate. Resolves to the status, or to the reason why there was no answer. */
async function anonymously(host: string, port: number, path: string): Promise<number | string> {
  return await new Promise((resolve) => {
    const asked = request({ host, port, path, rejectUnauthorized: false, timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    asked.end();
  });
}

async function portsOf(cluster: string): Promise<readonly number[]> {
  const state = await readState(planeLayout(dir, cluster).stateFile);
  return state ? listPorts(state) : [];
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe('a hosted cluster', () => {
  it.each(ROWS)('HOS-40 no one with %s reaches the %s: %s', async (credential, place, attack) => {
    const text = await mixed(credential, place);
    const attempt = ATTACKS[attack] ?? (() => Promise.resolve());
    expect(await refusal(withText(text, attempt))).toMatch(/^(Unauthorized|Forbidden)$/);
  });

  it('HOS-40 its administrator is one in it, so that the attacks fail for the place alone', async () => {
    expect(await refusal(withOurs((ours) => ours.list(SECRETS, { namespace: NAMESPACE })))).toBe('allowed');
  });

  it('HOS-40 objects of our kinds in it change nothing outside of it', async () => {
    const spec = { environment: 'test', hosted: { driver: 'process', version: VERSION } };
    const policy = {
      scope: { nodeSelector: { all: true } },
      killSwitch: { engaged: true, by: 'them', reason: 'attack' },
    };
    const secret = await hub.get(SECRETS, { name: kubeconfigSecret('other'), namespace: NAMESPACE });
    await withOurs(async (ours) => {
      await ours.create(CLUSTERS, {
        apiVersion: API_VERSION,
        kind: 'Cluster',
        metadata: { name: 'inner' },
        spec,
      });
      await ours.create(DEFENDER_POLICIES, {
        apiVersion: API_VERSION,
        kind: 'DefenderPolicy',
        metadata: { name: KILL_SWITCH },
        spec: policy,
      });
      const { resourceVersion: _version, uid: _uid, managedFields: _fields, ...metadata } = secret.metadata;
      await ours.create(SECRETS, { ...secret, metadata, data: { kubeconfig: 'YQ==' } });
    });
    // Hosting reconciles every ten seconds: a change of the other cluster proves that it did.
    const generation = async (): Promise<number | undefined> =>
      (await hub.get<Cluster>(CLUSTERS, { name: 'other' })).status?.hosted?.observedGeneration;
    const body = { spec: { hosted: { upgrade: { soakSeconds: 61 } } } };
    await hub.patch(CLUSTERS, { name: 'other' }, { type: 'merge', body });
    await expect.poll(generation, CREATED).toBe(2);
    expect(readdirSync(join(dir, 'clusters')).toSorted()).toEqual(['other', 'ours']);
    const now = await hub.get(SECRETS, { name: kubeconfigSecret('other'), namespace: NAMESPACE });
    expect(now.metadata.resourceVersion).toBe(secret.metadata.resourceVersion);
    expect(await refusal(hub.get(DEFENDER_POLICIES, { name: KILL_SWITCH }))).toBe('NotFound');
  });

  it('HOS-41 its ports are on loopback only, and give nothing to a client without a certificate', async () => {
    const ports = await portsOf('other');
    expect(ports).toHaveLength(4);
    for (const port of ports) {
      // A process that listens on every address answers here, too.
      expect([port, await anonymously('127.0.0.2', port, '/healthz')]).toEqual([port, 'ECONNREFUSED']);
      for (const path of ['/metrics', '/configz', '/debug/pprof/', '/api/v1/secrets', '/v3/kv/range']) {
        const answer = await anonymously('127.0.0.1', port, path);
        expect([port, path, answer]).not.toEqual([port, path, 200]);
        expect([401, 403, 404, 'string']).toContain(typeof answer === 'string' ? 'string' : answer);
      }
    }
  });

  it('HOS-41 its files are those of one user', () => {
    const { root } = planeLayout(dir, 'other');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((name) => join(root, name))
      .filter((path) => statSync(path).isFile() && statSync(path).size < MAX_KEY_BYTES);
    const secret = files.filter((path) => /PRIVATE KEY|client-key-data/.test(readFileSync(path, 'utf8')));
    expect(secret.length).toBeGreaterThan(5);
    expect(secret.filter((path) => modeOf(path) !== '600')).toEqual([]);
    expect(modeOf(root)).toBe('700');
  });
});
