import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ADMIN } from '../../../src/local/pki/authority.ts';
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
import { faultProxy } from '../../support/fault-proxy.ts';
import { httpsClient } from '../../support/https-client.ts';
import { listOf, MAPS, proxyBed } from './proxy-bed.ts';

const bed = proxyBed();

describe('a fault before or after the server acts', () => {
  it.each([
    ['drop', drop],
    ['reset', reset],
  ])('%s: no answer, and the object exists only after', async (_name, fault) => {
    bed.proxy.on({ verb: 'create', name: 'before', fault: fault('before') });
    bed.proxy.on({ verb: 'create', name: 'after', fault: fault('after') });
    await expect(bed.create('before')).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(bed.create('after')).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await bed.names()).toEqual(['after']);
    expect(writesIn(bed.proxy.log).map(line)).toEqual([`2 create configmaps after - (${_name} after)`]);
  });

  it('hang: no answer until the client times out', async () => {
    bed.proxy.on({ verb: 'create', name: 'before', fault: hang('before') });
    bed.proxy.on({ verb: 'create', name: 'after', fault: hang('after') });
    const impatient = new AbortController();
    const both = Promise.allSettled([
      bed.create('before', {}, bed.client, impatient.signal),
      bed.create('after', {}, bed.client, impatient.signal),
    ]);
    await eventually(
      async () => (await bed.names()).find((name) => name === 'after'),
      'the server did not act',
    );
    impatient.abort();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await bed.names()).toEqual(['after']);
  });

  it('delay: a complete answer, later than all others', async () => {
    bed.proxy.on({ verb: 'create', name: 'slow', fault: delay(300) });
    const order: string[] = [];
    const slow = bed.create('slow').then(({ status }) => order.push(`slow ${status}`));
    await bed.waitForLog('create');
    await bed.create('quick').then(({ status }) => order.push(`quick ${status}`));
    await slow;
    expect(order).toEqual(['quick 201', 'slow 201']);
  });

  it('hold: until the test releases it, before or after the server acts', async () => {
    const [before, after] = [gate(), gate()];
    bed.proxy.on({ verb: 'create', name: 'before', fault: before.hold('before') });
    bed.proxy.on({ verb: 'create', name: 'after', fault: after.hold('after') });
    const both = Promise.all([bed.create('before'), bed.create('after')]);
    await Promise.all([before.arrived, after.arrived]);
    expect(await bed.names()).toEqual(['after']);
    before.open();
    after.open();
    expect((await both).map(({ status }) => status)).toEqual([201, 201]);
    expect(await bed.names()).toEqual(['after', 'before']);
  });

  it('callback: runs before or after the server acts', async () => {
    const looks: string[][] = [];
    const poll = async (): Promise<void> => void looks.push(await bed.names());
    bed.proxy.on({ verb: 'create', nth: 1, fault: callback(poll, 'before') });
    bed.proxy.on({ verb: 'create', nth: 2, fault: callback(poll, 'after') });
    expect([(await bed.create('a')).status, (await bed.create('b')).status]).toEqual([201, 201]);
    expect(looks).toEqual([[], ['a', 'b']]);
  });

  it.each(['before', 'after'] as const)('kill: the client ends %s the server acts', async (when) => {
    bed.proxy.on({ verb: 'create', fault: killClient(() => child.pid ?? 0, when) });
    const child = spawn(process.execPath, ['--input-type=module', '-e', CREATING], {
      env: { ...process.env, ...childEnvironment() },
      stdio: 'inherit',
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect([code, signal]).toEqual([null, 'SIGKILL']);
    expect(await bed.names()).toEqual(when === 'after' ? ['of-the-child'] : []);
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
  ])('%i is a Status like that of a server, which never receives the request', async (status, reason) => {
    bed.proxy.on({ verb: 'create', fault: answer(status, { retryAfterSeconds: 7 }) });
    const heard = await bed.create('a');
    expect(heard.status).toBe(status);
    expect(heard.headers['retry-after']).toBe('7');
    expect(JSON.parse(heard.body)).toMatchObject({
      kind: 'Status',
      code: status,
      reason,
      details: { retryAfterSeconds: 7 },
    });
    expect(await bed.names()).toEqual([]);
    expect(bed.proxy.log).toMatchObject([{ reached: false, status, serverStatus: undefined }]);
  });

  it('can also hide that the server acted', async () => {
    bed.proxy.on({ verb: 'create', fault: answer(500, { when: 'after' }) });
    expect((await bed.create('a')).status).toBe(500);
    expect(await bed.names()).toEqual(['a']);
    expect(bed.proxy.log).toMatchObject([{ reached: true, status: 500, serverStatus: 201 }]);
  });

  it('has the causes and the reason that the test sets', async () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'too many' }];
    bed.proxy.on({ fault: answer(409, { reason: 'AlreadyExists', causes }) });
    expect(JSON.parse((await bed.create('a')).body)).toMatchObject({
      reason: 'AlreadyExists',
      details: { causes },
    });
  });
});

describe('an incorrect body', () => {
  it('truncate: the connection breaks, which the client detects', async () => {
    await bed.create('a');
    bed.proxy.on({ verb: 'list', fault: truncate() });
    await expect(bed.client.ask(MAPS)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('truncate quietly: complete HTTP, broken JSON', async () => {
    await bed.create('a');
    bed.proxy.on({ verb: 'list', fault: truncateQuietly() });
    const { status, body } = await bed.client.ask(MAPS);
    expect(status).toBe(200);
    expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
    expect((await bed.direct.ask(MAPS)).body.startsWith(body.slice(0, 20))).toBe(true);
  });

  it('empty body: 200 without a body', async () => {
    bed.proxy.on({ fault: emptyBody() });
    expect(await bed.client.ask(MAPS)).toMatchObject({ status: 200, body: '' });
    expect(await bed.client.ask(`${MAPS}/none`)).toMatchObject({ status: 200, body: '' });
  });

  it('empty list: 200, of the right kind, fresh, without items', async () => {
    for (const name of ['a', 'b']) await bed.create(name);
    bed.proxy.on({ verb: 'list', fault: emptyList() });
    // The server itself writes, too, so that its version may grow between two lists.
    const before = listOf((await bed.direct.ask(MAPS)).body);
    const heard = listOf((await bed.client.ask(`${MAPS}?limit=1`)).body);
    const after = listOf((await bed.direct.ask(MAPS)).body);
    expect(heard).toMatchObject({ kind: 'ConfigMapList', items: [] });
    expect(heard.metadata.continue).toBeUndefined();
    const versions = [before, heard, after].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(versions[0]).toBeGreaterThan(0);
    expect(versions[1]).toBeGreaterThanOrEqual(versions[0] ?? 0);
    expect(versions[2]).toBeGreaterThanOrEqual(versions[1] ?? 0);
  });

  it('replay: an old list, with its old resourceVersion', async () => {
    bed.proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    await bed.create('a');
    const first = await bed.client.ask(`${MAPS}?limit=500`);
    await bed.create('b');
    const second = await bed.client.ask(`${MAPS}?limit=500&resourceVersion=0`);
    expect(second.body).toBe(first.body);
    expect(await bed.namesIn(bed.client)).toEqual(['a', 'b']);
  });

  it('replay: other selectors are another list', async () => {
    bed.proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    const other = await faultProxy(bed.server, 'other');
    other.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: replay() });
    const unlucky = httpsClient(other, bed.server.certificateFor(ADMIN));
    await unlucky.ask(MAPS);
    await expect(unlucky.ask(`${MAPS}?labelSelector=a%3Db`)).rejects.toMatchObject({ code: 'ECONNRESET' });
    unlucky.close();
    // A fault that could not be injected is reported: such a test would prove nothing.
    await expect(other.close()).rejects.toThrow('could not be injected');
  });
});

describe('broken discovery', () => {
  const AGGREGATED = {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
  };

  it('stale: listed without resources, and 503 for a direct request', async () => {
    bed.proxy.on({ verb: 'discover', fault: brokenDiscovery('apps') });
    const apps = (await groups()).find(({ metadata }) => metadata.name === 'apps');
    expect(apps?.versions).toMatchObject([{ version: 'v1', freshness: 'Stale', resources: [] }]);
    expect((await bed.client.ask('/apis/apps/v1')).status).toBe(503);
    expect((await bed.client.ask('/apis/batch/v1')).status).toBe(200);
  });

  it('missing: not even listed, in neither form', async () => {
    expect((await groups()).map(({ metadata }) => metadata.name)).toContain('apps');
    bed.proxy.on({ verb: 'discover', fault: brokenDiscovery('apps', 'missing') });
    const left = (await groups()).map(({ metadata }) => metadata.name);
    expect(left).toContain('batch');
    expect(left).not.toContain('apps');
    const older = JSON.parse((await bed.client.ask('/apis')).body) as { groups: { name: string }[] };
    expect(older.groups.map(({ name }) => name)).not.toContain('apps');
  });

  async function groups(): Promise<{ metadata: { name: string }; versions: object[] }[]> {
    const { body } = await bed.client.ask('/apis', { headers: AGGREGATED });
    return (JSON.parse(body) as { items: { metadata: { name: string }; versions: object[] }[] }).items;
  }
});

/** A client in another process, which is killed before it gets an answer. */
const CREATING = `
  import { request } from 'node:https';
  const { URL_OF_MAPS, CA, CERT, KEY } = process.env;
  const outgoing = request(URL_OF_MAPS, { method: 'POST', ca: CA, cert: CERT, key: KEY, headers: { 'content-type': 'application/json' } });
  outgoing.on('error', () => {});
  outgoing.end(JSON.stringify({ metadata: { name: 'of-the-child' } }));
  setInterval(() => {}, 1000);
`;

function childEnvironment(): Record<string, string> {
  const { certPem, keyPem } = bed.server.certificateFor(ADMIN);
  return { URL_OF_MAPS: `${bed.proxy.url}${MAPS}`, CA: bed.proxy.caPem, CERT: certPem, KEY: keyPem };
}
