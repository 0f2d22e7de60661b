/** `kubenode console --login oidc --login-clusters` with API servers that trust one issuer, one that does not, and one that hangs. */
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { CLUSTERS, MACHINES, PIPELINES } from '../../../src/api/generated/resources.ts';
import { installation } from '../../../src/api/install/install.ts';
import { ANNOTATION_CONFIRM_DELETE, GROUP, MANAGER_SYNC } from '../../../src/api/names.ts';
import { clusterRole, clusterRoleBinding, may, READ } from '../../../src/api/roles/rbac.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createAuthority } from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import type { CookieClient } from '../../console/login/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { answer } from '../../support/fault-proxy/faults.ts';
import { type FaultProxy, faultProxy, type Listener } from '../../support/fault-proxy.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { firstState, signInAtIssuer } from './console-people.ts';
import { declareCluster, reportCluster } from './hub-fixture.ts';
import { declareMachine, reportMachine } from './rollout-fixture.ts';

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const ROLES: Resource = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const clientId = 'kubenode-console';
/** The stated time after which a right that was taken away counts. */
const STATED_MS = 60_000;
const SETS_ONLY = 'sets-only';
const IDENTITY = 'reads-identity';
/** The UID of a cluster that no server of this test is. */
const UNKNOWN_UID = '00000000-0000-4000-8000-000000000001';

const folder = tempFolder('oidc');
let issuer: OidcIssuer;
let hub: InstalledServer;
let member: InstalledServer;
/** Knows nothing of the issuer. */
let foreign: InstalledServer;
/** Represents the other cluster as a further one, which the hub has in one test only. */
let proxy: FaultProxy;
let flaky: Listener;
/** Accepts connections and answers nothing. */
let silent: Server;
const sockets = new Set<Socket>();
let io: TestIo;
let url: string;
let ended: Promise<unknown>;

async function startTrusting(): Promise<InstalledServer> {
  return await startInstalledServer(installation(), {
    flags: [
      `--oidc-issuer-url=${issuer.url}`,
      `--oidc-client-id=${clientId}`,
      `--oidc-ca-file=${join(folder, 'ca.crt')}`,
      '--oidc-username-claim=sub',
      '--oidc-username-prefix=oidc:',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=oidc:',
    ],
  });
}

async function apply(client: Client, resource: Resource, object: KubeObject): Promise<KubeObject> {
  return await client.apply(resource, object, { fieldManager: 'kubectl', force: true });
}

async function bind(client: Client, name: string, role: string, group: string): Promise<KubeObject> {
  const subject = { kind: 'Group', name: `oidc:${group}`, apiGroup: RBAC.group } as const;
  return await apply(client, BINDINGS, clusterRoleBinding(name, role, [subject]));
}

async function unbind(client: Client, binding: KubeObject): Promise<void> {
  const { name, uid = '' } = binding.metadata;
  await client.delete(BINDINGS, { name }, { uid });
}

/** A Cluster of the hub as sync would report it. */
async function declareMember(name: string, clusterUID: string): Promise<void> {
  const { client } = hub.server;
  const spec = {
    environment: 'test',
    clusterUID,
    connection: { credentialsRef: { name: `${name}-kubeconfig` } },
  };
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, spec };
  await apply(client, CLUSTERS, object);
  await reportCluster(client, name, { state: 'Proven', commit: 'abc' });
}

async function addMachine({ server }: InstalledServer, name: string): Promise<void> {
  await declareMachine(server.client, name, { zone: 'a' });
  await reportMachine(server.client, name, { phase: 'Ready' });
}

function writeClusters(clusters: Readonly<Record<string, { server: string; caPem: string }>>): void {
  const entries = Object.entries(clusters);
  const config = {
    clusters: entries.map(([name, { server, caPem }]) => ({
      name,
      cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
    })),
    contexts: entries.map(([name]) => ({ name, context: { cluster: name } })),
  };
  writeFileSync(join(folder, 'clusters.yaml'), JSON.stringify(config));
}

function writeIssuer(): void {
  writeFileSync(join(folder, 'ca.crt'), issuer.caPem);
  const lines = [`issuer: ${issuer.url}`, `clientId: ${clientId}`, 'caFile: ca.crt', 'scopes: [groups]'];
  writeFileSync(join(folder, 'oidc.yaml'), lines.join('\n'));
}

async function signIn(subject: string, groups: readonly string[]): Promise<CookieClient> {
  return await signInAtIssuer(url, issuer, subject, groups);
}

/** What a page that is opened now is sent first, as soon as it is so. */
async function shows(
  client: CookieClient,
  isSo: (state: ConsoleState) => boolean,
  withinMs?: number,
): Promise<ConsoleState> {
  let last: ConsoleState | undefined;
  try {
    return await eventually(
      async () => {
        last = await firstState(client);
        return last && isSo(last) ? last : undefined;
      },
      'the console does not show it',
      withinMs,
    );
  } catch (error) {
    throw new Error(`it shows ${JSON.stringify([last && machinesOf(last), last && staleOf(last)])}`, {
      cause: error,
    });
  }
}

const machinesOf = ({ machines }: ConsoleState): readonly string[] => Object.keys(machines).toSorted();
const staleOf = ({ clusters }: ConsoleState): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(clusters).map(([name, { stale }]) => [name, stale]));
const showsAll = (state: ConsoleState): boolean => machinesOf(state).join() === 'home/m-1,prod/m-2';

function closeSilent(): void {
  for (const socket of sockets) socket.destroy();
  silent?.close();
}

async function textOf(client: CookieClient, path: string): Promise<string> {
  return (await client.send(path)).body;
}

describe('kubenode console --login oidc --login-clusters', () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    issuer = await startOidcIssuer({ clientId });
    writeIssuer();
    [hub, member, foreign] = await Promise.all([startTrusting(), startTrusting(), startInstalledServer()]);
    silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
    const source = { repository: 'https://git.example.com/fleet' };
    const stages = [{ name: 'test', clusterSelector: { all: true } }];
    const fleet = { apiVersion: API_VERSION, kind: PIPELINES.kind, metadata: { name: 'fleet' } };
    await hub.server.client.apply(
      PIPELINES,
      { ...fleet, spec: { source, stages } },
      { fieldManager: MANAGER_SYNC },
    );
    await declareCluster(hub.server.client, 'home', { state: 'Proven', commit: 'abc' });
    await addMachine(hub, 'm-1');
    await addMachine(member, 'm-2');
    await addMachine(foreign, 'm-3');
    await addMachine(foreign, 'm-4');
    const uid = await readClusterUID(member.server.client, new AbortController().signal);
    await declareMember('prod', uid);
    await declareMember('other', UNKNOWN_UID);
    await declareMember('wrong-ca', uid);
    await declareMember('silent', UNKNOWN_UID);
    await declareMember('foreign', await readClusterUID(foreign.server.client, new AbortController().signal));
    await declareMember('unlisted', UNKNOWN_UID);
    proxy = await faultProxy(member.server);
    flaky = await proxy.listen({ name: 'flaky', server: member.server, ownUid: true });
    const { port } = new URL(member.server.url);
    const { caPem } = member.server;
    writeClusters({
      prod: { server: member.server.url, caPem },
      // The same server by another name, which the hub expects to be another cluster.
      other: { server: `https://localhost:${port}`, caPem },
      'wrong-ca': {
        server: `https://localhost:${port}/wrong`,
        caPem: createAuthority('kubernetes', createSystemClock().now(), 1).certPem,
      },
      silent: { server: `https://127.0.0.1:${(silent.address() as AddressInfo).port}`, caPem },
      foreign: { server: foreign.server.url, caPem: foreign.server.caPem },
      flaky: { server: flaky.url, caPem: flaky.caPem },
    });
    const { client } = member.server;
    const rule = may(['get'], '', ['namespaces'], ['kube-system']);
    await apply(client, ROLES, clusterRole(IDENTITY, 'Reads the UID of the cluster.', [rule]));
    const sets = may(READ, GROUP, ['machinecomponentsets']);
    await apply(client, ROLES, clusterRole(SETS_ONLY, 'Reads no machines.', [sets]));
    await bind(hub.server.client, 'all', 'kubenode-view', 'all');
    await bind(client, 'all', IDENTITY, 'all');
    await bind(client, 'sre', 'kubenode-view', 'sre');
    await bind(client, 'sales', SETS_ONLY, 'sales');
    // The kubeconfig of an administrator: its credentials must be of no use.
    io = testIo({ env: { KUBECONFIG: hub.server.kubeconfig } });
    const files = ['--oidc', join(folder, 'oidc.yaml'), '--login-clusters', join(folder, 'clusters.yaml')];
    ended = runCommandLine(io, ['console', '--port', '0', '--login', 'oidc', ...files]);
    url = await eventually(
      () => Promise.resolve(/http:\S+/.exec(io.stdout)?.[0]),
      `the console does not start: ${io.stderr}`,
    );
  });
  afterAll(async () => {
    io?.interrupt();
    await ended;
    closeSilent();
    await Promise.all([proxy?.close(), ...[hub, member, foreign].map((installed) => installed?.stop())]);
    await issuer?.close();
  });

  beforeEach(() => {
    Object.assign(issuer, { faults: {}, isRenewing: false, tokenSeconds: 3600 });
  });

  it('CON-33 shows each of two people the other cluster with the rights of this person there', async () => {
    const viewer = await signIn('anna', ['all', 'sre']);
    const seller = await signIn('ben', ['all', 'sales']);
    await shows(viewer, showsAll);
    const part = await shows(seller, (state) => /machines.*forbidden/.test(staleOf(state)['prod'] ?? ''));
    expect(machinesOf(part)).toEqual(['home/m-1']);
    expect(staleOf(part)['prod']).toContain('oidc:ben');
    expect(await textOf(viewer, '/why/prod/m-2')).toContain('m-2');
    expect(await textOf(seller, '/why/prod/m-2')).toBe('null');
    expect(await textOf(viewer, '/events-of/prod/m-2')).toContain('you may not list events');
  });

  it('CON-33 shows the clusters that answer at once, and names why each other one is not read', async () => {
    const person = await signIn('carl', ['all', 'sre']);
    const state = await shows(
      person,
      (now) =>
        showsAll(now) &&
        ['silent', 'foreign', 'wrong-ca', 'other'].every(
          (name) => !/not read yet/.test(staleOf(now)[name] ?? 'not read yet'),
        ),
    );
    const reasons: Readonly<Record<string, RegExp>> = {
      other: /leads to another cluster: expected UID 0{8}-.*, got /,
      'wrong-ca': /signed by an authority that is not trusted here/,
      silent: /silent did not answer within 5 s/,
      foreign: /does not accept your token: it has to trust the issuer/,
      unlisted: /has no context unlisted: open the console of unlisted/,
    };
    const stale = staleOf(state);
    for (const [name, reason] of Object.entries(reasons)) expect(stale[name]).toMatch(reason);
    expect([stale['home'], stale['prod']]).toEqual([undefined, undefined]);
    expect((await person.send('/session')).status).toBe(200);
  });

  it('CON-33 shows no machine of a cluster a minute after the right was taken away there, and the session stays', async () => {
    const { client } = member.server;
    const binding = await bind(client, 'guests', 'kubenode-view', 'guests');
    const person = await signIn('dora', ['all', 'guests']);
    const events = await person.events();
    await shows(person, showsAll);
    await unbind(client, binding);
    const part = await shows(
      person,
      (state) => !showsAll(state) && /machines.*forbidden/.test(staleOf(state)['prod'] ?? ''),
      STATED_MS,
    );
    expect(machinesOf(part)).toEqual(['home/m-1']);
    // The page that was open has ended: it may show the machines no more.
    for (let event = await events.next(); event; ) event = await events.next(); // oxlint-disable-line no-await-in-loop -- one after the other
    expect((await person.send('/session')).status).toBe(200);
  });

  it('CON-33 hides a cluster that refuses the token while the page is open, ends the pages, and ends no session', async () => {
    await declareMember('flaky', await flaky.uid());
    const person = await signIn('hans', ['all', 'sre']);
    const events = await person.events();
    const has = (state: ConsoleState): boolean => machinesOf(state).includes('flaky/m-2');
    await shows(person, has);
    const refusing = proxy.on({ listener: 'flaky', fault: answer(401) });
    const isRefused = (state: ConsoleState): boolean =>
      !has(state) && /does not accept your token/.test(staleOf(state)['flaky'] ?? '');
    const hidden = await shows(person, isRefused, STATED_MS);
    expect(machinesOf(hidden)).toEqual(['home/m-1', 'prod/m-2']);
    // The page that was open has ended: it may show the lines of before no more.
    for (let event = await events.next(); event; ) event = await events.next(); // oxlint-disable-line no-await-in-loop -- one after the other
    expect((await person.send('/session')).status).toBe(200);
    await shows(person, isRefused);
    refusing.remove();
    await shows(person, has, STATED_MS);
    const { client } = hub.server;
    const { uid = '' } = (await client.get(CLUSTERS, { name: 'flaky' })).metadata;
    const body = { metadata: { annotations: { [ANNOTATION_CONFIRM_DELETE]: uid } } };
    await client.patch(CLUSTERS, { name: 'flaky' }, { type: 'merge', body });
    await client.delete(CLUSTERS, { name: 'flaky' }, { uid });
    await shows(person, showsAll);
  });

  it('CON-33 sends a token that was renewed to the other cluster, too', async () => {
    Object.assign(issuer, { isRenewing: true, tokenSeconds: 5 });
    const person = await signIn('emil', ['all', 'sre']);
    await shows(person, showsAll);
    const before = issuer.grants.length;
    await eventually(async () => {
      expect(await textOf(person, '/why/prod/m-2')).toMatch(/"text":"m-2/);
      const renewals = issuer.grants.slice(before).filter((grant) => grant.startsWith('refresh_token'));
      return renewals.length >= 2 || undefined;
    }, 'the token is not renewed');
    expect(await textOf(person, '/why/prod/m-2')).toMatch(/"text":"m-2/);
    await shows(person, showsAll);
  });

  it('CON-33 shows the hub and the last state of a cluster that is down while the page is open', async () => {
    const person = await signIn('fred', ['all', 'sre']);
    const page = await person.events();
    let hasEnded = false;
    page.response.once('close', () => {
      hasEnded = true;
    });
    page.response.resume();
    await shows(person, showsAll);
    await member.server.kill();
    const down = await shows(person, (state) =>
      /retrying, with the last state/.test(staleOf(state)['prod'] ?? ''),
    );
    expect([machinesOf(down), staleOf(down)['home']]).toEqual([['home/m-1', 'prod/m-2'], undefined]);
    await member.server.start();
    await shows(person, (state) => showsAll(state) && staleOf(state)['prod'] === undefined, STATED_MS);
    expect((await person.send('/session')).status).toBe(200);
    // Until its roles are read, a server that starts forbids what it permitted before: that must not end the page.
    expect(hasEnded).toBe(false);
    page.close();
  });

  it('CON-33 learns how many machines a cluster has from a list of one', async () => {
    const page = await foreign.server.client.list(MACHINES, { limit: 1 });
    expect([page.items.length, page.remaining]).toEqual([1, 1]);
  });

  it('CON-33 has no token and code in its output', async () => {
    const person = await signIn('gina', ['all', 'sre']);
    await shows(person, showsAll);
    const texts = `${io.stdout}${io.stderr}${person.received.join('\n')}`;
    expect(texts).toContain('signed in');
    expect(issuer.secrets.length).toBeGreaterThan(2);
    expect(issuer.secrets.filter((secret) => texts.includes(secret))).toEqual([]);
  });
});
