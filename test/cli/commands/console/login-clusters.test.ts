/** Other clusters of a console with a login: what is sent to which server, before anything is shown. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import {
  type PersonClusters,
  readLoginClusters,
} from '../../../../src/cli/commands/console/login-clusters.ts';
import { EXIT } from '../../../../src/cli/errors.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import type { LossOfRights } from '../../../../src/console/login/user-client.ts';
import type { BearerSource } from '../../../../src/kube/auth/bearer.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { createAuthority } from '../../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { authority, startTlsServer } from '../../../support/kube/tls-server.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const TOKEN = 'the-id-token-of-anna';
const UID = 'uid-of-prod';
const PERSON = 'oidc:anna';

/** What the cluster answers, and which tokens it was sent. */
interface Cluster {
  uid: string | undefined;
  machines: number;
  /** How many machines a list has that is not a count. */
  listed: number;
  isCounting: boolean;
  isAcceptingAll: boolean;
  isRefusing: boolean;
  /** The status of every answer. */
  failing: number | undefined;
  /** Whether something in front of the cluster answers, with the headers that it was sent. */
  isRepeating: boolean;
  readonly tokens: string[];
  readonly asked: string[];
}

let cluster: Cluster;
let losses: LossOfRights[];

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, message: string): void {
  reply(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message });
}

function answer({ method, url, headers }: IncomingMessage, response: ServerResponse): void {
  const token = String(headers.authorization).replace('Bearer ', '');
  cluster.tokens.push(token);
  const resource = basename(new URL(String(url), 'https://server').pathname);
  cluster.asked.push(`${method} ${resource}`);
  if (cluster.isRepeating) return void response.writeHead(502).end(`bad gateway: ${headers.authorization}`);
  if (!isKnown(token)) return refuse(response, 401, `Unauthorized ${token}`);
  if (cluster.failing) return refuse(response, cluster.failing, `${cluster.failing} for ${token}`);
  answerKnown(token, new URL(String(url), 'https://server'), response);
}

function answerKnown(token: string, { pathname, searchParams }: URL, response: ServerResponse): void {
  const resource = basename(pathname);
  if (resource === 'selfsubjectreviews') return reply(response, 201, review());
  if (resource === 'machines') return reply(response, 200, machinesPage(searchParams.get('limit') !== '1'));
  if (cluster.uid === undefined) return refuse(response, 403, `forbidden for ${token}`);
  const metadata = { name: 'kube-system', uid: cluster.uid };
  return reply(response, 200, { apiVersion: 'v1', kind: 'Namespace', metadata });
}

function isKnown(token: string): boolean {
  return cluster.isAcceptingAll || (token.startsWith(TOKEN) && !cluster.isRefusing);
}

function review(): object {
  const status = { userInfo: { username: PERSON } };
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', status };
}

const firstMachine = (): readonly object[] => (cluster.machines > 0 ? [{ metadata: { name: 'm-1' } }] : []);
const manyMachines = (): readonly object[] =>
  Array.from({ length: cluster.listed }, (_, index) => ({ metadata: { name: `m-${index}` } }));

function machinesPage(isWhole: boolean): object {
  const items = isWhole && cluster.listed > 0 ? manyMachines() : firstMachine();
  const counted = cluster.isCounting ? { remainingItemCount: cluster.machines - 1 } : {};
  const rest = cluster.machines > 1 ? { ...counted, continue: 'x' } : {};
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineList',
    metadata: { resourceVersion: '1', ...rest },
    items,
  };
}

function fileOf(server: string, caPem = authority.certPem): string {
  const file = join(tempFolder('clusters'), 'clusters.yaml');
  const ca = Buffer.from(caPem).toString('base64');
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name: 'prod', cluster: { server, 'certificate-authority-data': ca } }],
      contexts: [{ name: 'prod', context: { cluster: 'prod' } }],
    }),
  );
  return file;
}

function hubWith(uid: string | undefined = UID): Pick<Client, 'get'> {
  const object = { metadata: { name: 'prod' }, spec: {}, status: { ...(uid && { clusterUID: uid }) } };
  return { get: () => Promise.resolve(object) } as unknown as Pick<Client, 'get'>;
}

interface Person {
  readonly hub?: Pick<Client, 'get'>;
  readonly bearer?: BearerSource;
}

async function openFor(
  file: string,
  { hub = hubWith(), bearer = () => Promise.resolve(TOKEN) }: Person = {},
): Promise<PersonClusters> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const clusters = await readLoginClusters({ clock: createSystemClock(), cwd: '/' }, file, 'https://hub');
  const person = {
    name: PERSON,
    credentialsKey: 'key-of-anna',
    bearer,
    reconnect: () => Promise.reject(new Error('not of the hub')),
    onLoss: (loss: LossOfRights) => void losses.push(loss),
  };
  if (!clusters) throw new Error('no clusters');
  return clusters.open({ person, hub, signal: stop.signal });
}

async function reasonOf(clusters: PersonClusters, name = 'prod'): Promise<string> {
  return await clusters
    .connectTo(name, () => undefined)
    .then(
      ({ by }) => `connected by ${by}`,
      (error: unknown) => (error as Error).message,
    );
}

const silentIssuer = (): Promise<never> => Promise.reject(new Error('the issuer did not answer'));

async function firstOf(parts: AsyncIterable<unknown>): Promise<unknown> {
  for await (const part of parts) return part;
  return undefined;
}

describe('readLoginClusters', () => {
  beforeEach(() => {
    losses = [];
    cluster = {
      uid: UID,
      machines: 2,
      listed: 0,
      isCounting: true,
      isAcceptingAll: false,
      isRefusing: false,
      failing: undefined,
      isRepeating: false,
      tokens: [],
      asked: [],
    };
  });

  it('CON-33 reads a cluster of the file after the server refused an invented token and is the cluster of the hub', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const clusters = await openFor(fileOf(server.url));
    const { client, by, refused } = await clusters.connectTo('prod', () => undefined);
    expect(by).toBe('context');
    expect(cluster.asked).toEqual([
      'POST selfsubjectreviews',
      'POST selfsubjectreviews',
      'GET kube-system',
      'GET machines',
    ]);
    expect(cluster.tokens[0]).not.toContain(TOKEN);
    expect(new Set(cluster.tokens.slice(1))).toEqual(new Set([TOKEN]));
    await expect(
      client.create(MACHINES, { apiVersion: 'v1', kind: 'Machine', metadata: { name: 'x' } }),
    ).rejects.toThrow('the console is read-only');
    cluster.isRefusing = true;
    await expect(client.list(MACHINES)).rejects.toThrow('Unauthorized [token]');
    expect([refused?.aborted, losses]).toEqual([true, []]);
    await client.close();
  });

  it('CON-33 sends the renewed token to a cluster that is connected, and to one that is explained', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    let token = TOKEN;
    const clusters = await openFor(fileOf(server.url), { bearer: () => Promise.resolve(token) });
    const { client } = await clusters.connectTo('prod', () => undefined);
    token = `${TOKEN}-2`;
    await client.list(MACHINES);
    const again = await clusters.reconnect('prod', () => undefined);
    await again.list(MACHINES);
    expect(cluster.tokens.slice(-2)).toEqual([token, token]);
    await client.close();
    await again.close();
  });

  it('CON-33 sends no token to a server whose certificate is not of the authority in the file', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const other = createAuthority('kubernetes', createSystemClock().now(), 1);
    const reason = await reasonOf(await openFor(fileOf(server.url, other.certPem)));
    expect(reason).toMatch(/certificate/);
    expect(cluster.tokens).toEqual([]);
  });

  it('CON-33 sends no token to a server that accepts an invented one', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.isAcceptingAll = true;
    expect(await reasonOf(await openFor(fileOf(server.url)))).toContain(
      'accepts tokens that were not issued',
    );
    expect(cluster.tokens.filter((token) => token.includes(TOKEN))).toEqual([]);
  });

  it('CON-33 reads nothing of a server that is another cluster, and shows both identities', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.uid = 'uid-of-another';
    const reason = await reasonOf(await openFor(fileOf(server.url)));
    expect(reason).toContain('leads to another cluster: expected UID uid-of-prod, got uid-of-another');
    expect(cluster.asked).not.toContain('GET machines');
  });

  it('reads a cluster whose identity the person may not read, and tells that it is not checked', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.uid = undefined;
    expect(await reasonOf(await openFor(fileOf(server.url)))).toBe('connected by unchecked context');
  });

  it('CON-33 names what unblocks a cluster that refuses the token, is not in the file, or was never identified', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const file = fileOf(server.url);
    const other = await openFor(file);
    // The path of the file is of no use to people.
    expect(await reasonOf(other, 'test')).toMatch(
      /^the file of --login-clusters has no context test: open the console of test/,
    );
    const unknown = await openFor(file, { hub: { get: hubWith('').get } });
    expect(await reasonOf(unknown)).toContain('before status.clusterUID of Cluster prod');
    expect(cluster.tokens).toEqual([]);
    cluster.isRefusing = true;
    expect(await reasonOf(other)).toContain(
      `the API server ${server.url} does not accept your token: it has to trust the issuer`,
    );
    expect(losses).toEqual([]);
  });

  it('CON-33 has no token in the error of a server that repeats it', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const clusters = await openFor(fileOf(server.url));
    expect(await reasonOf(clusters)).toBe('connected by context');
    cluster.failing = 400;
    const reason = await reasonOf(clusters);
    expect(reason).toContain('[token]');
    expect(reason).not.toContain(TOKEN);
  });

  it('CON-33 has no part of a long token in the error of a proxy that repeats the headers', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const token = TOKEN.padEnd(900, 'x');
    const clusters = await openFor(fileOf(server.url), { bearer: () => Promise.resolve(token) });
    expect(await reasonOf(clusters)).toBe('connected by context');
    cluster.isRepeating = true;
    const reason = await reasonOf(clusters);
    expect(reason).toContain('bad gateway: Bearer [token]');
    expect(reason).not.toMatch(/xxx|the-id-token/);
  });

  it('CON-33 limits the machines that are read, before they are read, and frees those of a client that is closed', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.machines = 20_000;
    const clusters = await openFor(fileOf(server.url));
    const first = await clusters.connectTo('prod', () => undefined);
    expect(await reasonOf(clusters)).toContain(
      'you read 20000 machines of other clusters, this one has 20000 (counted as at least 625), and 30000 is the limit of a person',
    );
    await first.client.close();
    expect(await reasonOf(clusters)).toBe('connected by context');
  });

  it('CON-33 drops a cluster that has more machines than it counted, and frees all of its places', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.machines = 29_000;
    const clusters = await openFor(fileOf(server.url));
    const large = await clusters.connectTo('prod', () => undefined);
    cluster.machines = 1;
    const { client, refused } = await clusters.connectTo('prod', () => undefined);
    cluster.listed = 626;
    await expect(firstOf(client.pages(MACHINES))).rejects.toThrow('it has more than 625 machines');
    expect(refused?.aborted).toBe(true);
    await large.client.close();
    const grown = await clusters.connectTo('prod', () => undefined);
    await firstOf(grown.client.pages(MACHINES));
    expect(grown.refused?.aborted).toBe(false);
    for (const one of [client, grown.client]) await one.close(); // oxlint-disable-line no-await-in-loop -- one after the other
    cluster.machines = 30_000;
    expect(await reasonOf(clusters)).toBe('connected by context');
  });

  it('counts a cluster as large whose server does not count its machines', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    cluster.isCounting = false;
    const clusters = await openFor(fileOf(server.url));
    const connect = (): Promise<string> => reasonOf(clusters);
    expect([await connect(), await connect()]).toEqual(['connected by context', 'connected by context']);
    expect(await connect()).toContain(
      'this one has 10001 (counted as at least 625), and 30000 is the limit of a person',
    );
  });

  it('CON-33 gives up on a server that accepts connections and answers nothing', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const clusters = await openFor(fileOf(`https://127.0.0.1:${port}`));
    expect(await reasonOf(clusters)).toBe('prod did not answer within 5 s: it is tried again');
  });

  it('CON-33 names the hub or the issuer when these do not answer, and asks the cluster nothing', async () => {
    const server = await startTlsServer();
    server.answer(answer);
    const file = fileOf(server.url);
    const limits: unknown[] = [];
    const get = (...asked: readonly unknown[]): Promise<never> => {
      limits.push(asked[2]);
      return Promise.reject(new Error('GET https://hub: no answer'));
    };
    const silentHub = await openFor(file, { hub: { get } });
    expect(await reasonOf(silentHub)).toBe('GET https://hub: no answer');
    expect(limits).toEqual([expect.objectContaining({ timeoutMs: 5000 })]);
    expect(await reasonOf(await openFor(file, { bearer: silentIssuer }))).toBe('the issuer did not answer');
    expect(cluster.asked).toEqual([]);
  });
});

describe('kubenode console --login-clusters', () => {
  it('CON-33 refuses a file with credentials at start, with the way on', async () => {
    const folder = tempFolder('start');
    const [kubeconfig, oidc, clusters] = ['config', 'oidc.yaml', 'clusters.yaml'].map((name) =>
      join(folder, name),
    );
    const entry = { server: 'https://10.0.0.1', 'certificate-authority-data': '' };
    const of = (user: object): string =>
      JSON.stringify({
        'current-context': 'hub',
        clusters: [{ name: 'hub', cluster: entry }],
        contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'me' } }],
        users: [{ name: 'me', user }],
      });
    writeFileSync(kubeconfig ?? '', of({}));
    writeFileSync(clusters ?? '', of({ token: 'secret-of-me' }));
    writeFileSync(oidc ?? '', 'issuer: https://login.example.com\nclientId: console\n');
    const io = testIo({ env: { KUBECONFIG: kubeconfig ?? '' } });
    const login = ['--login', 'oidc', '--oidc', oidc ?? '', '--login-clusters', clusters ?? ''];
    expect(await runCommandLine(io, ['console', '--port', '0', ...login])).toBe(EXIT.badInput);
    expect(io.stderr).toContain('it has user me. Remove all users');
    expect(io.stderr).toContain('docs/guides/console-login.md');
    expect(io.stderr).not.toContain('secret-of-me');
  });
});
