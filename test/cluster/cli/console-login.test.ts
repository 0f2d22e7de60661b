/** `kubenode console --login token` on a real API server: people with different rights, rights and tokens that are taken away. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { GROUP } from '../../../src/api/names.ts';
import { clusterRole, clusterRoleBinding, may, READ, roleBinding } from '../../../src/api/roles/rbac.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import { HISTORY_FIELDS } from '../../../src/console/state/history/lines.ts';
import type { PastAnswer } from '../../../src/console/state/history/ranges.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { createEventRecorder } from '../../../src/kube/events/recorder.ts';
import { NODE_EVENTS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import type { MachineEventsView } from '../../../src/views/machine/detail.ts';
import { type CookieClient, createCookieClient } from '../../console/login/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { firstState } from './console-people.ts';
import { declareCluster, startHub } from './hub-fixture.ts';
import { declareMachine, reportMachine } from './rollout-fixture.ts';

const run = promisify(execFile);
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false };
const ROLES: Resource = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };
const ROLE_BINDINGS: Resource = { ...RBAC, kind: 'RoleBinding', plural: 'rolebindings', namespaced: true };
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const NAMESPACE = 'default';
/** The role that reads nothing but the kinds of the hub. */
const RELEASER = 'releaser';
/** The stated time after which a right or a token that was taken away counts. */
const STATED_MS = 60_000;

let installed: InstalledServer;
/** Answers each query with one series of sevens. */
let prometheus: Server;
const queries: string[] = [];
let io: TestIo;
let url: string;
let ended: Promise<unknown>;

async function apply(resource: Resource, object: KubeObject): Promise<KubeObject> {
  return await installed.server.client.apply(resource, object, { fieldManager: 'kubectl', force: true });
}

async function bind(account: string, role: string): Promise<KubeObject> {
  const subject = { kind: 'ServiceAccount', name: account, namespace: NAMESPACE } as const;
  return await apply(BINDINGS, clusterRoleBinding(account, role, [subject]));
}

/** Creates a person with that role, and returns a token of that person. */
async function createPerson(name: string, role: string): Promise<string> {
  await apply(ACCOUNTS, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: NAMESPACE },
  });
  await bind(name, role);
  return await createToken(name);
}

async function createToken(name: string): Promise<string> {
  const { kubectl, kubeconfig } = installed.server;
  const { stdout } = await run(kubectl, [
    '--kubeconfig',
    kubeconfig,
    '-n',
    NAMESPACE,
    'create',
    'token',
    name,
  ]);
  return stdout.trim();
}

async function remove(resource: Resource, object: KubeObject): Promise<void> {
  const { name, namespace, uid = '' } = object.metadata;
  await installed.server.client.delete(resource, { name, ...(namespace ? { namespace } : {}) }, { uid });
}

async function signIn(token: string): Promise<CookieClient> {
  const client = createCookieClient(url);
  expect(await client.signIn(token)).toMatchObject({ status: 303 });
  return client;
}

/** What a page that is opened now is sent first, as soon as it is so. */
async function shows(
  client: CookieClient,
  isSo: (state: ConsoleState) => boolean,
  withinMs?: number,
): Promise<ConsoleState> {
  return await eventually(
    async () => {
      const state = await firstState(client);
      return state && isSo(state) ? state : undefined;
    },
    'the console does not show it',
    withinMs,
  );
}

function sevenFrom(path = ''): string {
  const start = Number(new URL(path, 'http://prometheus').searchParams.get('start'));
  const data = { resultType: 'matrix', result: [{ metric: {}, values: [[start, '7']] }] };
  return JSON.stringify({ status: 'success', data });
}

async function read<T>(client: CookieClient, path: string): Promise<T> {
  return JSON.parse((await client.send(path)).body) as T;
}

/** The key of the machine, as the page of this person has it. */
async function shownMachine(client: CookieClient): Promise<string> {
  const { machines } = await shows(client, hasMachine);
  return Object.keys(machines)[0]?.split('/').map(encodeURIComponent).join('/') ?? '';
}

const machinesOf = ({ machines }: ConsoleState): readonly string[] =>
  Object.keys(machines).map((key) => key.slice(key.indexOf('/') + 1));
const notesOf = ({ notes, clusters }: ConsoleState): string =>
  [...Object.keys(notes), ...Object.values(clusters).flatMap(({ stale }) => stale ?? [])].join('\n');
const hasMachine = (state: ConsoleState): boolean => machinesOf(state).includes('m-1');

describe('kubenode console --login token', () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    installed = await startHub();
    const { client } = installed.server;
    await declareMachine(client, 'm-1', { zone: 'a' });
    await reportMachine(client, 'm-1', { phase: 'Ready' });
    prometheus = createServer((request, response) => {
      queries.push(new URL(request.url ?? '', 'http://prometheus').searchParams.get('query') ?? '');
      response.end(sevenFrom(request.url));
    });
    await once(prometheus.listen(0, '127.0.0.1'), 'listening');
    const kinds = ['pipelines', 'clusters', 'releases'];
    await apply(ROLES, clusterRole(RELEASER, 'Reads the kinds of the hub.', [may(READ, GROUP, kinds)]));
  });
  afterAll(async () => {
    prometheus?.close();
    await installed?.stop();
  });

  beforeEach(async () => {
    // The kubeconfig of an administrator: its credentials must be of no use.
    io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
    const { port } = prometheus.address() as AddressInfo;
    const past = ['--prometheus-url', `http://127.0.0.1:${port}`, '--prometheus-cluster', 'eu-1'];
    ended = runCommandLine(io, ['console', '--port', '0', '--login', 'token', ...past]);
    url = await eventually(
      () => Promise.resolve(/http:\S+/.exec(io.stdout)?.[0]),
      `the console does not start: ${io.stderr}`,
    );
  });
  afterEach(async () => {
    io.interrupt();
    await ended;
  });

  it('CON-22 shows each of two people what this person may read, names what is missing, and shares nothing', async () => {
    const viewer = await signIn(await createPerson('anna', 'kubenode-view'));
    const releaser = await signIn(await createPerson('ben', RELEASER));
    const whole = await shows(viewer, (state) => hasMachine(state) && state.pipelines['fleet'] !== undefined);
    expect(notesOf(whole)).not.toContain('forbidden');
    const part = await shows(
      releaser,
      (state) => state.pipelines['fleet'] !== undefined && /machines.*forbidden/.test(notesOf(state)),
    );
    expect(machinesOf(part)).toEqual([]);
    expect(notesOf(part)).toContain('system:serviceaccount:default:ben');
    expect(notesOf(part)).not.toContain('m-1');
    // What the administrator of the kubeconfig may read is shown to no one.
    expect(JSON.parse((await releaser.send('/session')).body)).toMatchObject({
      user: 'system:serviceaccount:default:ben',
    });
  });

  it('CON-31 shows lines of Prometheus to a person who may list what they count, and asks for the own cluster only', async () => {
    const viewer = await signIn(await createPerson('jana', 'kubenode-view'));
    const releaser = await signIn(await createPerson('karl', RELEASER));
    await shows(viewer, hasMachine);
    await shows(releaser, (state) => state.pipelines['fleet'] !== undefined);
    const [all, few] = await Promise.all([
      read<PastAnswer>(viewer, '/history/24h'),
      read<PastAnswer>(releaser, '/history/24h'),
    ]);
    expect(Object.keys(all.lines).toSorted()).toEqual([...HISTORY_FIELDS].toSorted());
    expect(Object.keys(few.lines)).toEqual(['contact']);
    const because = 'you may not list machines.kubenode.dev';
    expect(few.missing).toContainEqual({ field: 'ready', because });
    const ofClusters = queries.filter((query) => !query.includes('kubenode_sync_'));
    expect(ofClusters.filter((query) => !query.includes('cluster="eu-1"'))).toEqual([]);
    expect((await createCookieClient(url).send('/history/24h')).status).toBe(401);
  });

  it('CON-32 explains a machine to a person as far as the rights of that person reach, and names the others', async () => {
    const viewer = await signIn(await createPerson('lena', 'kubenode-view'));
    const releaser = await signIn(await createPerson('mark', RELEASER));
    const machine = await shownMachine(viewer);
    const part = await read<{ readonly text: string }>(viewer, `/why/${machine}`);
    expect(part.text).toMatch(/^m-1 /);
    expect(part.text).toContain('you may not list nodes, pods, by which the Defender decides');
    expect(part.text).not.toMatch(/PERMITTED|DENIED/);
    await shows(releaser, (state) => state.pipelines['fleet'] !== undefined);
    expect(await read(releaser, `/why/${machine}`)).toBeNull();
    expect(await read(releaser, `/events-of/${machine}`)).toBeNull();
    const admin = await signIn(await createPerson('nina', 'cluster-admin'));
    await shows(admin, hasMachine);
    const whole = await read<{ readonly text: string }>(admin, `/why/${machine}`);
    expect(whole.text).toMatch(/^(DENIED|PERMITTED) +Reboot/m);
    expect(whole.text).not.toContain('you may not');
  });

  it('CON-32 shows the events of a machine with a right for one namespace, which is named where it is missing', async () => {
    const viewer = await signIn(await createPerson('olga', 'kubenode-view'));
    const machine = await shownMachine(viewer);
    expect(await read(viewer, `/events-of/${machine}`)).toEqual({
      events: [],
      problem: 'you may not list events in namespace default',
    });
    const recorder = createEventRecorder({
      client: installed.server.client,
      clock: createSystemClock(),
      random: systemRandom,
      log: memoryLog(),
      controller: 'kubenode.dev/test',
      instance: 'test',
    });
    const about = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'm-1' } };
    recorder.record({
      about,
      type: 'Warning',
      reason: 'Probed',
      action: 'Probe',
      note: 'three peers do not reach it',
    });
    // Just after a restart of the server, in another test, it denies all writes for a moment.
    const limits = { namespace: NAMESPACE, fieldSelector: 'involvedObject.name=m-1' };
    await eventually(async () => {
      const { items } = await installed.server.client.list(NODE_EVENTS, limits);
      return items.length > 0 ? items : undefined;
    }, 'the event is not written');
    await recorder.close();
    const subject = { kind: 'ServiceAccount', name: 'olga', namespace: NAMESPACE } as const;
    const role = { kind: 'ClusterRole', name: 'kubenode-view-events' } as const;
    await apply(ROLE_BINDINGS, roleBinding('olga-events', NAMESPACE, role, [subject]));
    const events = await eventually(async () => {
      const found = await read<MachineEventsView>(viewer, `/events-of/${machine}`);
      return found.events.length > 0 ? found : undefined;
    }, 'the events are not shown');
    expect(events).toMatchObject({
      events: [
        { reason: 'Probed', isWarning: true, about: 'Machine', message: 'three peers do not reach it' },
      ],
    });
    expect(events.problem).toBeUndefined();
  });

  it('CON-22 shows the same in three sessions of one person, each with a token of its own', async () => {
    await createPerson('carl', 'kubenode-view');
    const tokens = [await createToken('carl'), await createToken('carl'), await createToken('carl')];
    const clients = await Promise.all(tokens.map(signIn));
    const states = await Promise.all(clients.map((client) => shows(client, hasMachine)));
    expect(states.map(machinesOf)).toEqual([['m-1'], ['m-1'], ['m-1']]);
    await clients[0]?.send('/logout', { method: 'POST' });
    expect((await clients[0]?.send('/session'))?.status).toBe(401);
    expect(machinesOf(await shows(clients[1] as CookieClient, hasMachine))).toEqual(['m-1']);
    // The cookie of another session is that session, and of an ended one nothing.
    expect(new Set(clients.flatMap(({ cookies }) => [...cookies.values()])).size).toBe(3);
  });

  it('CON-23 shows no machine a minute after the right to read them was taken away, and the rest', async () => {
    const person = await signIn(await createPerson('dora', 'kubenode-view'));
    const events = await person.events();
    await shows(person, hasMachine);
    await remove(BINDINGS, await bind('dora', 'kubenode-view'));
    await bind('dora', RELEASER);
    const part = await shows(
      person,
      (state) => !hasMachine(state) && /machines.*forbidden/.test(notesOf(state)),
      STATED_MS,
    );
    expect(machinesOf(part)).toEqual([]);
    // The page that was open has ended: it may show the machines no more.
    for (let event = await events.next(); event; ) event = await events.next(); // oxlint-disable-line no-await-in-loop -- one after the other
    expect((await person.send('/session')).status).toBe(200);
  });

  it('CON-23 ends the session a minute after its token was revoked, with the reason', async () => {
    const token = await createPerson('emil', 'kubenode-view');
    const person = await signIn(token);
    await shows(person, hasMachine);
    const account = await installed.server.client.get(ACCOUNTS, { namespace: NAMESPACE, name: 'emil' });
    await remove(ACCOUNTS, account);
    await eventually(
      async () => {
        const { status } = await person.send('/session');
        const events = await person.events();
        events.close();
        return status === 401 ? true : undefined;
      },
      'the session does not end',
      STATED_MS + 30_000,
    );
    expect((await person.send('/login')).body).toContain('the API server does not accept your token');
    const again = await createCookieClient(url).signIn(token);
    expect([again.status, again.body]).toEqual([401, expect.stringContaining('does not accept this token')]);
  });

  it('CON-21 shows the machines of the hub under its own name, and sends the token to no other cluster', async () => {
    const { client } = installed.server;
    const sync = { state: 'Proven', commit: 'abc' } as const;
    for (const name of ['a-hub', 'prod']) await declareCluster(client, name, sync); // oxlint-disable-line no-await-in-loop -- one after the other
    const person = await signIn(await createPerson('ida', 'kubenode-view'));
    const state = await shows(person, ({ machines }) => machines['a-hub/m-1'] !== undefined);
    expect(Object.keys(state.machines)).toEqual(['a-hub/m-1']);
    const part = await shows(person, ({ clusters }) => clusters['prod']?.stale !== undefined);
    expect(part.clusters['prod']?.stale).toContain('a console with a login reads one cluster');
  });

  it('CON-23 keeps the session over a restart of the API server', async () => {
    const { server } = installed;
    const person = await signIn(await createPerson('fred', 'kubenode-view'));
    await shows(person, hasMachine);
    await server.kill();
    await server.start();
    expect(machinesOf(await shows(person, hasMachine))).toEqual(['m-1']);
  });

  it('CON-25 answers a thousand sign-ins with wrong tokens, and has no token in its output', async () => {
    const right = await createPerson('gina', 'kubenode-view');
    const client = createCookieClient(url);
    const { body } = await client.send('/login');
    const form = /name="form" value="(?<value>[^"]*)"/.exec(body)?.groups?.['value'] ?? '';
    const wrong = (attempt: number): string => `${right.slice(0, -4)}${String(attempt).padStart(4, '0')}`;
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 1000; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      statuses.push(
        (await client.send('/login', { method: 'POST', form: { form, token: wrong(attempt) } })).status,
      );
    }
    // Twenty, and one more for each five seconds that this takes.
    const asked = statuses.filter((status) => status === 401).length;
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(asked).toBeLessThan(100);
    const [, claims = ''] = right.split('.');
    expect(`${io.stdout}${io.stderr}${client.received.join('\n')}`).not.toContain(claims);
    expect(io.stderr).toContain('sign-in refused');
  });

  it('CON-24 refuses other names, other sites and writes', async () => {
    const person = await signIn(await createPerson('hans', 'kubenode-view'));
    const refused = [
      await person.send('/session', { headers: { host: 'evil.example' } }),
      await person.send('/logout', { method: 'POST', headers: { origin: 'https://evil.example' } }),
      await person.send('/events', { method: 'POST' }),
      await person.signIn('x', { headers: { origin: 'null' } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([421, 403, 405, 403]);
    expect((await person.send('/session')).status).toBe(200);
  });
});
