import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ADMIN } from '../../../src/local/authority.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import {
  answer,
  brokenDiscovery,
  callback,
  delay,
  drop,
  emptyBody,
  emptyList,
  gate,
  hang,
  killClient,
  replay,
  reset,
  truncate,
  truncateQuietly,
} from '../../support/fault-proxy/faults.ts';
import { line, writesIn } from '../../support/fault-proxy/log.ts';
import type { Fault } from '../../support/fault-proxy/passage.ts';
import { closeWatch, freezeWatch, tearWatch, watchError } from '../../support/fault-proxy/watch-faults.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { httpsClient, type PlainClient, type WatchLine } from '../../support/https-client.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

let server: ApiServer;
let proxy: FaultProxy;
let client: PlainClient;
/** Past the proxy: what is really there. */
let direct: PlainClient;

beforeAll(async () => {
  server = await startApiServer();
  proxy = await faultProxy(server);
  const pair = server.certificateFor(ADMIN);
  client = httpsClient(proxy, pair);
  direct = httpsClient(server, pair);
});
beforeEach(async () => {
  await server.wipe();
});
afterEach(() => {
  proxy.reset();
});
afterAll(async () => {
  client.close();
  direct.close();
  await proxy.close();
  await server.stop();
});

describe('without a rule', () => {
  it('passes requests and answers on as they are', async () => {
    const made = await create('a');
    expect(made.status).toBe(201);
    expect(await names()).toEqual(['a']);
    const [through, past] = await Promise.all([client.ask(`${MAPS}/a`), direct.ask(`${MAPS}/a`)]);
    expect(through.body).toBe(past.body);
    expect(through.headers['content-type']).toBe(past.headers['content-type']);
    expect((await client.ask(`${MAPS}/none`)).status).toBe(404);
  });

  it('leaves a compressed answer compressed', async () => {
    await create('large', { data: { text: 'x'.repeat(200_000) } });
    const { headers, bytes } = await client.ask(MAPS, { headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bytes).toString()).toContain('xxxxxxxx');
  });

  it('passes a watch on, event by event', async () => {
    const events = watchMaps();
    const first = events.next();
    await waitForLog('watch');
    await create('a', {}, direct);
    expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    const second = events.next();
    await remove('a');
    expect((await second).value).toMatchObject({ type: 'DELETED' });
    await events.return(undefined);
  });

  it('lets the server see the same user as without it', async () => {
    const agent = { user: 'kubenode:agent:m-1', groups: ['kubenode:agents'] };
    const other = httpsClient(proxy, server.certificateFor(agent));
    expect(await whoAmI(other)).toMatchObject({
      username: agent.user,
      groups: [...agent.groups, 'system:authenticated'],
    });
    expect((await other.ask(MAPS)).status).toBe(403);
    other.close();
    expect(proxy.log.map(({ user }) => user)).toEqual([agent.user, agent.user]);
  });

  it('makes nobody of who shows no certificate, or one of another CA', async () => {
    const stranger = await startApiServer();
    const foreign = stranger.certificateFor(ADMIN);
    await stranger.stop();
    for (const pair of [undefined, foreign]) {
      const other = httpsClient(proxy, pair);
      expect((await other.ask(MAPS)).status).not.toBe(200);
      other.close();
    }
  });

  it('passes a token on', async () => {
    const token = await tokenOf('default');
    const other = httpsClient(proxy);
    const answered = await whoAmI(other, { authorization: `Bearer ${token}` });
    other.close();
    expect(answered).toMatchObject({ username: 'system:serviceaccount:default:default' });
  });

  it('writes kubeconfigs that lead through it', () => {
    const config = parse(readFileSync(proxy.kubeconfig, 'utf8')) as {
      clusters: { cluster: { server: string } }[];
    };
    expect(config.clusters.map(({ cluster }) => cluster.server)).toEqual([proxy.url]);
  });
});

describe('a rule', () => {
  it('meets the nth request that matches, and only that', async () => {
    const rule = proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: answer(503) });
    const heard: number[] = [];
    for (const path of [MAPS, `${MAPS}?limit=1`, '/api/v1/nodes', MAPS]) {
      heard.push((await client.ask(path)).status);
    }
    expect(heard).toEqual([200, 503, 200, 200]);
    expect(rule).toMatchObject({ matched: 3, fired: 1 });
  });

  it('meets as many as it is told, from the nth on, and none once removed', async () => {
    const rule = proxy.on({ verb: 'list', nth: 2, times: 2, fault: answer(500) });
    const every = proxy.on({ verb: 'get', fault: answer(500) });
    expect(await statuses(4, MAPS)).toEqual([200, 500, 500, 200]);
    expect(await statuses(2, `${MAPS}/a`)).toEqual([500, 500]);
    every.remove();
    expect(await statuses(1, `${MAPS}/a`)).toEqual([404]);
    expect(rule.fired).toBe(2);
  });

  it('tells requests apart by name, namespace, group, query and path', async () => {
    const fault = answer(503);
    proxy.on({ verb: 'create', name: 'b', fault });
    proxy.on({ verb: 'list', resource: 'configmaps', namespace: 'kube-system', fault });
    proxy.on({ verb: 'list', group: 'apps', fault });
    proxy.on({ verb: 'list', resource: 'secrets', query: { labelSelector: true }, fault });
    proxy.on({ path: /^\/readyz/, fault });
    const heard = [(await create('a')).status, (await create('b')).status];
    for (const path of [
      MAPS,
      '/api/v1/namespaces/kube-system/configmaps',
      '/apis/apps/v1/deployments',
      '/api/v1/secrets',
      '/api/v1/secrets?labelSelector=a%3Db',
      '/livez',
      '/readyz',
    ]) {
      heard.push((await client.ask(path)).status);
    }
    expect(heard).toEqual([201, 503, 200, 503, 503, 200, 503, 200, 503]);
  });
});

describe('before or after the server saw it', () => {
  it.each([
    ['drop', drop],
    ['reset', reset],
  ])('%s: no answer, and the object is there only after', async (_name, fault) => {
    proxy.on({ verb: 'create', name: 'before', fault: fault('before') });
    proxy.on({ verb: 'create', name: 'after', fault: fault('after') });
    await expect(create('before')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(create('after')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await names()).toEqual(['after']);
    expect(writesIn(proxy.log).map(line)).toEqual([`2 create configmaps after - (${_name} after)`]);
  });

  it('hang: no answer at all until the client gives up', async () => {
    proxy.on({ verb: 'create', name: 'before', fault: hang('before') });
    proxy.on({ verb: 'create', name: 'after', fault: hang('after') });
    const impatient = new AbortController();
    const both = Promise.allSettled([
      create('before', {}, client, impatient.signal),
      create('after', {}, client, impatient.signal),
    ]);
    await eventually(async () => (await names()).find((name) => name === 'after'), 'the server did not act');
    impatient.abort();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await names()).toEqual(['after']);
  });

  it('delay: later than everything else, and whole', async () => {
    proxy.on({ verb: 'create', name: 'slow', fault: delay(300) });
    const order: string[] = [];
    const slow = create('slow').then(({ status }) => order.push(`slow ${status}`));
    await waitForLog('create');
    await create('quick').then(({ status }) => order.push(`quick ${status}`));
    await slow;
    expect(order).toEqual(['quick 201', 'slow 201']);
  });

  it('hold: until the test lets it go, on either side of the act', async () => {
    const [before, after] = [gate(), gate()];
    proxy.on({ verb: 'create', name: 'before', fault: before.hold('before') });
    proxy.on({ verb: 'create', name: 'after', fault: after.hold('after') });
    const both = Promise.all([create('before'), create('after')]);
    await Promise.all([before.arrived, after.arrived]);
    expect(await names()).toEqual(['after']);
    before.open();
    after.open();
    expect((await both).map(({ status }) => status)).toEqual([201, 201]);
    expect(await names()).toEqual(['after', 'before']);
  });

  it('callback: runs on either side of the act', async () => {
    const looks: string[][] = [];
    const look = async (): Promise<void> => void looks.push(await names());
    proxy.on({ verb: 'create', nth: 1, fault: callback(look, 'before') });
    proxy.on({ verb: 'create', nth: 2, fault: callback(look, 'after') });
    expect([(await create('a')).status, (await create('b')).status]).toEqual([201, 201]);
    expect(looks).toEqual([[], ['a', 'b']]);
  });

  it.each(['before', 'after'] as const)('kill: the client ends %s the server saw it', async (when) => {
    proxy.on({ verb: 'create', fault: killClient(() => child.pid ?? 0, when) });
    const child = spawn(process.execPath, ['--input-type=module', '-e', CREATING], {
      env: { ...process.env, ...childEnvironment() },
      stdio: 'inherit',
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect([code, signal]).toEqual([null, 'SIGKILL']);
    expect(await names()).toEqual(when === 'after' ? ['of-the-child'] : []);
  });
});

describe('an answer of the proxy', () => {
  it.each([
    [403, 'Forbidden'],
    [409, 'Conflict'],
    [422, 'Invalid'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [503, 'ServiceUnavailable'],
  ])(
    '%i is a Status as the server would write it, and the server never saw the request',
    async (status, reason) => {
      proxy.on({ verb: 'create', fault: answer(status, { retryAfterSeconds: 7 }) });
      const heard = await create('a');
      expect(heard.status).toBe(status);
      expect(heard.headers['retry-after']).toBe('7');
      expect(JSON.parse(heard.body)).toMatchObject({
        kind: 'Status',
        code: status,
        reason,
        details: { retryAfterSeconds: 7 },
      });
      expect(await names()).toEqual([]);
      expect(proxy.log).toMatchObject([{ reached: false, status, serverStatus: undefined }]);
    },
  );

  it('may also hide that the server acted', async () => {
    proxy.on({ verb: 'create', fault: answer(500, { when: 'after' }) });
    expect((await create('a')).status).toBe(500);
    expect(await names()).toEqual(['a']);
    expect(proxy.log).toMatchObject([{ reached: true, status: 500, serverStatus: 201 }]);
  });

  it('carries causes and a reason of the test’s choice', async () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'too many' }];
    proxy.on({ fault: answer(409, { reason: 'AlreadyExists', causes }) });
    expect(JSON.parse((await create('a')).body)).toMatchObject({
      reason: 'AlreadyExists',
      details: { causes },
    });
  });
});

describe('a body that is not what it should be', () => {
  it('truncate: it breaks off, and the client can tell', async () => {
    await create('a');
    proxy.on({ verb: 'list', fault: truncate() });
    await expect(client.ask(MAPS)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('truncate quietly: whole as HTTP, broken as JSON', async () => {
    await create('a');
    proxy.on({ verb: 'list', fault: truncateQuietly() });
    const { status, body } = await client.ask(MAPS);
    expect(status).toBe(200);
    expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
    expect((await direct.ask(MAPS)).body.startsWith(body.slice(0, 20))).toBe(true);
  });

  it('empty body: 200 and not a byte', async () => {
    proxy.on({ fault: emptyBody() });
    expect(await client.ask(MAPS)).toMatchObject({ status: 200, body: '' });
    expect(await client.ask(`${MAPS}/none`)).toMatchObject({ status: 200, body: '' });
  });

  it('empty list: 200, of the right kind, fresh, with nothing in it', async () => {
    for (const name of ['a', 'b']) await create(name);
    proxy.on({ verb: 'list', fault: emptyList() });
    const heard = listOf((await client.ask(`${MAPS}?limit=1`)).body);
    const there = listOf((await direct.ask(MAPS)).body);
    expect(heard).toMatchObject({ kind: 'ConfigMapList', items: [] });
    expect(heard.metadata.continue).toBeUndefined();
    expect(heard.metadata.resourceVersion).toBe(there.metadata.resourceVersion);
  });

  it('replay: an old list, with its old resourceVersion', async () => {
    proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    await create('a');
    const first = await client.ask(`${MAPS}?limit=500`);
    await create('b');
    const second = await client.ask(`${MAPS}?limit=500&resourceVersion=0`);
    expect(second.body).toBe(first.body);
    expect(await namesIn(client)).toEqual(['a', 'b']);
  });

  it('replay: other selectors are another list', async () => {
    proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    const other = await faultProxy(server, 'other');
    other.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    const unlucky = httpsClient(other, server.certificateFor(ADMIN));
    await unlucky.ask(MAPS);
    await expect(unlucky.ask(`${MAPS}?labelSelector=a%3Db`)).rejects.toMatchObject({ code: 'ECONNRESET' });
    unlucky.close();
    // What could not be carried out is told: such a test would prove nothing.
    await expect(other.close()).rejects.toThrow('could not be carried out');
  });
});

describe('broken discovery', () => {
  const AGGREGATED = {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
  };

  it('stale: listed without resources, and a 503 where it is asked directly', async () => {
    proxy.on({ verb: 'discover', fault: brokenDiscovery('apps') });
    const apps = (await groups()).find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions).toMatchObject([{ version: 'v1', freshness: 'Stale', resources: [] }]);
    expect((await client.ask('/apis/apps/v1')).status).toBe(503);
    expect((await client.ask('/apis/batch/v1')).status).toBe(200);
  });

  it('missing: not even listed, in neither form', async () => {
    expect((await groups()).map(({ metadata }) => metadata.name)).toContain('apps');
    proxy.on({ verb: 'discover', fault: brokenDiscovery('apps', 'missing') });
    const left = (await groups()).map(({ metadata }) => metadata.name);
    expect(left).toContain('batch');
    expect(left).not.toContain('apps');
    const older = JSON.parse((await client.ask('/apis')).body) as { groups: { name: string }[] };
    expect(older.groups.map(({ name }) => name)).not.toContain('apps');
  });

  async function groups(): Promise<{ metadata: { name: string }; versions: object[] }[]> {
    const { body } = await client.ask('/apis', { headers: AGGREGATED });
    return (JSON.parse(body) as { items: { metadata: { name: string }; versions: object[] }[] }).items;
  }
});

describe('a watch that fails in the middle', () => {
  // Each with what the client sees of three objects when the fault is due after two.
  it.each<[name: string, fault: (afterEvents: number) => Fault, sees: string[]]>([
    ['close', closeWatch, ['ADDED a', 'ADDED b', 'end']],
    ['tear', tearWatch, ['ADDED a', 'ADDED b', 'ECONNRESET']],
    ['410', (after) => watchError(410, after), ['ADDED a', 'ADDED b', 'ERROR 410', 'end']],
  ])('%s after two events', async (_name, fault, sees) => {
    for (const name of ['a', 'b', 'c']) await create(name);
    proxy.on({ verb: 'watch', fault: fault(2) });
    expect(await seen(watchMaps())).toEqual(sees);
  });

  it.each<[name: string, fault: Fault, sees: string[]]>([
    ['close', closeWatch(), ['end']],
    ['tear', tearWatch(), ['ECONNRESET']],
    ['410', watchError(), ['ERROR 410', 'end']],
  ])('%s before any event', async (_name, fault, sees) => {
    await create('a');
    proxy.on({ verb: 'watch', fault });
    expect(await seen(watchMaps())).toEqual(sees);
  });

  it('freeze: open, and silent, whatever happens', async () => {
    await create('a');
    proxy.on({ verb: 'watch', nth: 1, fault: freezeWatch(1) });
    const [frozen, healthy] = [watchMaps(), watchMaps()];
    expect(describeEvent((await frozen.next()).value)).toBe('ADDED a');
    const next = frozen.next();
    await healthy.next();
    await create('b');
    expect(describeEvent((await healthy.next()).value)).toBe('ADDED b');
    expect(await Promise.race([next, Promise.resolve('nothing yet')])).toBe('nothing yet');
    // A reset breaks off what a fault held, and nothing else.
    const [broken] = await Promise.allSettled([next, Promise.resolve(proxy.reset())]);
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: 'ECONNRESET' } });
    await create('c');
    expect(describeEvent((await healthy.next()).value)).toBe('ADDED c');
    await healthy.return(undefined);
  });
});

describe('many clusters', () => {
  it('gives each listener its own UID of kube-system, in get, list and watch', async () => {
    const [one, two] = await Promise.all([
      proxy.listen({ name: 'one', server, ownUid: true }),
      proxy.listen({ name: 'two', server, ownUid: true }),
    ]);
    const seenAs = async (listener: { url: string; caPem: string }): Promise<string[]> => {
      const other = httpsClient(listener, server.certificateFor(ADMIN));
      const namespace = JSON.parse(
        (await other.ask('/api/v1/namespaces/kube-system')).body,
      ) as WatchLine['object'];
      const list = JSON.parse((await other.ask('/api/v1/namespaces')).body) as {
        items: WatchLine['object'][];
      };
      const events = other.watch('/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dkube-system');
      const { value } = await events.next();
      await events.return(undefined);
      other.close();
      const listed = list.items.find(({ metadata }) => metadata?.name === 'kube-system');
      const objects = [namespace, listed, value?.object];
      return objects.map((object) => object?.metadata?.uid ?? '');
    };
    const uids = await Promise.all([proxy.uid(), one.uid(), two.uid()]);
    expect(new Set(uids).size).toBe(3);
    expect(await Promise.all([proxy, one, two].map(seenAs))).toEqual(uids.map((uid) => [uid, uid, uid]));
  });

  it('stands for several servers at once, each with its users, and swaps them under a client', async () => {
    const other = await startApiServer();
    await proxy.listen({ name: 'left', server });
    const right = await proxy.listen({
      name: 'right',
      server: other,
      as: { user: 'sync', groups: ['system:masters'] },
    });
    const throughRight = httpsClient(right, other.certificateFor(ADMIN));
    expect(await whoAmI(throughRight)).toMatchObject({ username: 'sync' });
    await create('here');
    expect(await namesIn(throughRight)).toEqual([]);
    const before = await right.uid();
    proxy.swap('left', 'right', { cutOpen: true });
    const swapped = httpsClient(right, server.certificateFor(ADMIN));
    expect(await namesIn(swapped)).toEqual(['here']);
    expect(await right.uid()).not.toBe(before);
    throughRight.close();
    swapped.close();
    await other.stop();
  });

  it('can have rules for one of them only', async () => {
    const other = await proxy.listen({ name: 'sick', server });
    proxy.on({ listener: 'sick', fault: answer(503) });
    const sick = httpsClient(other, server.certificateFor(ADMIN));
    expect([(await sick.ask(MAPS)).status, (await client.ask(MAPS)).status]).toEqual([503, 200]);
    sick.close();
  });
});

describe('the log', () => {
  it('tells who asked what, what was sent, and what came of it', async () => {
    const body = { metadata: { name: 'a' } };
    await client.ask(MAPS, { method: 'POST', body, headers: { 'user-agent': 'replica-1' } });
    await client.ask(`${MAPS}?dryRun=All`, { method: 'POST', body: { metadata: { name: 'b' } } });
    await client.ask(`${MAPS}/none`);
    expect(proxy.log).toMatchObject([
      {
        number: 1,
        verb: 'create',
        resource: 'configmaps',
        namespace: 'default',
        name: 'a',
        status: 201,
        listener: 'default',
      },
      { number: 2, verb: 'create', query: { dryRun: 'All' }, status: 201 },
      { number: 3, verb: 'get', name: 'none', status: 404, bodyHash: undefined, fault: undefined },
    ]);
    const [first, second] = proxy.log;
    expect(first).toMatchObject({
      user: ADMIN.user,
      userAgent: 'replica-1',
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(first?.bodyHash).not.toBe(second?.bodyHash);
    expect(first?.at.getTime()).toBeLessThanOrEqual(second?.at.getTime() ?? 0);
    expect(writesIn(proxy.log)).toEqual([first]);
  });

  it('says when there was no server to ask', async () => {
    const other = await startApiServer();
    const alone = await faultProxy(other, 'alone');
    await other.stop();
    const lonely = httpsClient(alone, other.certificateFor(ADMIN));
    await expect(lonely.ask(MAPS)).rejects.toMatchObject({ code: 'ECONNRESET' });
    lonely.close();
    expect(alone.log).toMatchObject([
      { reached: true, serverStatus: undefined, status: undefined, fault: 'no upstream' },
    ]);
    await alone.close();
  });
});

/** A client of another process, which never lives to see its answer. */
const CREATING = `
  import { request } from 'node:https';
  const { URL_OF_MAPS, CA, CERT, KEY } = process.env;
  const outgoing = request(URL_OF_MAPS, { method: 'POST', ca: CA, cert: CERT, key: KEY, headers: { 'content-type': 'application/json' } });
  outgoing.on('error', () => {});
  outgoing.end(JSON.stringify({ metadata: { name: 'of-the-child' } }));
  setInterval(() => {}, 1000);
`;

function childEnvironment(): Record<string, string> {
  const { certPem, keyPem } = server.certificateFor(ADMIN);
  return { URL_OF_MAPS: `${proxy.url}${MAPS}`, CA: proxy.caPem, CERT: certPem, KEY: keyPem };
}

function create(
  name: string,
  fields: object = {},
  through: PlainClient = client,
  signal?: AbortSignal,
): ReturnType<PlainClient['ask']> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...fields };
  return through.ask(MAPS, { method: 'POST', body, ...(signal && { signal }) });
}

async function remove(name: string): Promise<void> {
  await direct.ask(`${MAPS}/${name}`, { method: 'DELETE' });
}

async function statuses(count: number, path: string): Promise<number[]> {
  const heard: number[] = [];
  while (heard.length < count) heard.push((await client.ask(path)).status);
  return heard;
}

/** Names of the config maps, but for the one that the server itself puts everywhere. */
async function namesIn(through: PlainClient): Promise<string[]> {
  const { items } = listOf((await through.ask(MAPS)).body);
  return items.flatMap(({ metadata }) => metadata?.name ?? []).filter((name) => name !== 'kube-root-ca.crt');
}

function names(): Promise<string[]> {
  return namesIn(direct);
}

function listOf(body: string): {
  kind: string;
  metadata: { resourceVersion: string; continue?: string };
  items: WatchLine['object'][];
} {
  return JSON.parse(body) as ReturnType<typeof listOf>;
}

function watchMaps(): AsyncGenerator<WatchLine, undefined> {
  return client.watch(`${MAPS}?watch=1&fieldSelector=metadata.name%21%3Dkube-root-ca.crt`);
}

async function seen(events: AsyncGenerator<WatchLine, undefined>): Promise<string[]> {
  const all: string[] = [];
  try {
    for await (const event of events) all.push(describeEvent(event));
    return [...all, 'end'];
  } catch (error) {
    return [...all, (error as NodeJS.ErrnoException).code ?? String(error)];
  }
}

function describeEvent(event: WatchLine | undefined): string {
  return `${event?.type} ${event?.object.metadata?.name ?? event?.object.code}`;
}

async function whoAmI(through: PlainClient, headers: Record<string, string> = {}): Promise<unknown> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answered = await through.ask(path, { method: 'POST', body, headers });
  return (JSON.parse(answered.body) as { status?: { userInfo?: unknown } }).status?.userInfo;
}

async function tokenOf(account: string): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await direct.ask(accounts, { method: 'POST', body: { metadata: { name: account } } });
  const answered = await direct.ask(`${accounts}/${account}/token`, { method: 'POST', body: { spec: {} } });
  return (JSON.parse(answered.body) as { status: { token: string } }).status.token;
}

async function waitForLog(verb: string): Promise<void> {
  const look = (): Promise<true | undefined> =>
    Promise.resolve(proxy.log.some((entry) => entry.verb === verb) || undefined);
  await eventually(look, `no ${verb} came`);
}
