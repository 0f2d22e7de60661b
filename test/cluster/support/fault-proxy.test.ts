import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ADMIN } from '../../../src/local/pki/authority.ts';
import { startApiServer } from '../../support/control-plane.ts';
import { answer } from '../../support/fault-proxy/faults.ts';
import { writesIn } from '../../support/fault-proxy/log.ts';
import { faultProxy } from '../../support/fault-proxy.ts';
import { httpsClient, type WatchLine } from '../../support/https-client.ts';
import { MAPS, proxyBed } from './proxy-bed.ts';

const bed = proxyBed();

describe('without a rule', () => {
  it('forwards requests and answers unchanged', async () => {
    const made = await bed.create('a');
    expect(made.status).toBe(201);
    expect(await bed.names()).toEqual(['a']);
    const [through, past] = await Promise.all([bed.client.ask(`${MAPS}/a`), bed.direct.ask(`${MAPS}/a`)]);
    expect(through.body).toBe(past.body);
    expect(through.headers['content-type']).toBe(past.headers['content-type']);
    expect((await bed.client.ask(`${MAPS}/none`)).status).toBe(404);
  });

  it('leaves a compressed answer compressed', async () => {
    await bed.create('large', { data: { text: 'x'.repeat(200_000) } });
    const { headers, bytes } = await bed.client.ask(MAPS, { headers: { 'accept-encoding': 'gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(bytes).toString()).toContain('xxxxxxxx');
  });

  it('forwards a watch event by event', async () => {
    const events = bed.watchMaps();
    const first = events.next();
    await bed.waitForLog('watch');
    await bed.create('a', {}, bed.direct);
    expect((await first).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    const second = events.next();
    await bed.remove('a');
    expect((await second).value).toMatchObject({ type: 'DELETED' });
    await events.return(undefined);
  });

  it('keeps the user of the client', async () => {
    const agent = { user: 'kubenode:agent:m-1', groups: ['kubenode:agents'] };
    const other = httpsClient(bed.proxy, bed.server.certificateFor(agent));
    expect(await bed.whoAmI(other)).toMatchObject({
      username: agent.user,
      groups: [...agent.groups, 'system:authenticated'],
    });
    expect((await other.ask(MAPS)).status).toBe(403);
    other.close();
    expect(bed.proxy.log.map(({ user }) => user)).toEqual([agent.user, agent.user]);
  });

  it('keeps clients without a certificate, or with one of another CA, anonymous', async () => {
    const anonymous = await startApiServer();
    const foreign = anonymous.certificateFor(ADMIN);
    await anonymous.stop();
    for (const pair of [undefined, foreign]) {
      const other = httpsClient(bed.proxy, pair);
      expect((await other.ask(MAPS)).status).not.toBe(200);
      other.close();
    }
  });

  it('forwards a token', async () => {
    const token = await bed.tokenOf('default');
    const other = httpsClient(bed.proxy);
    const answered = await bed.whoAmI(other, { authorization: `Bearer ${token}` });
    other.close();
    expect(answered).toMatchObject({ username: 'system:serviceaccount:default:default' });
  });

  it('writes kubeconfigs that point to it', () => {
    const config = parse(readFileSync(bed.proxy.kubeconfig, 'utf8')) as {
      clusters: { cluster: { server: string } }[];
    };
    expect(config.clusters.map(({ cluster }) => cluster.server)).toEqual([bed.proxy.url]);
  });
});

describe('a rule', () => {
  it('breaks only the nth matching request', async () => {
    const rule = bed.proxy.on({ verb: 'list', resource: 'configmaps', nth: 2, fault: answer(503) });
    const heard: number[] = [];
    for (const path of [MAPS, `${MAPS}?limit=1`, '/api/v1/nodes', MAPS]) {
      heard.push((await bed.client.ask(path)).status);
    }
    expect(heard).toEqual([200, 503, 200, 200]);
    expect(rule).toMatchObject({ matched: 3, fired: 1 });
  });

  it('breaks the configured number of requests from the nth on, and none once removed', async () => {
    const rule = bed.proxy.on({ verb: 'list', nth: 2, times: 2, fault: answer(500) });
    const every = bed.proxy.on({ verb: 'get', fault: answer(500) });
    expect(await bed.statuses(4, MAPS)).toEqual([200, 500, 500, 200]);
    expect(await bed.statuses(2, `${MAPS}/a`)).toEqual([500, 500]);
    every.remove();
    expect(await bed.statuses(1, `${MAPS}/a`)).toEqual([404]);
    expect(rule.fired).toBe(2);
  });

  it('distinguishes requests by name, namespace, group, query and path', async () => {
    const fault = answer(503);
    bed.proxy.on({ verb: 'create', name: 'b', fault });
    bed.proxy.on({ verb: 'list', resource: 'configmaps', namespace: 'kube-system', fault });
    bed.proxy.on({ verb: 'list', group: 'apps', fault });
    bed.proxy.on({ verb: 'list', resource: 'secrets', query: { labelSelector: true }, fault });
    bed.proxy.on({ path: /^\/readyz/, fault });
    const heard = [(await bed.create('a')).status, (await bed.create('b')).status];
    for (const path of [
      MAPS,
      '/api/v1/namespaces/kube-system/configmaps',
      '/apis/apps/v1/deployments',
      '/api/v1/secrets',
      '/api/v1/secrets?labelSelector=a%3Db',
      '/livez',
      '/readyz',
    ]) {
      heard.push((await bed.client.ask(path)).status);
    }
    expect(heard).toEqual([201, 503, 200, 503, 503, 200, 503, 200, 503]);
  });
});

describe('many clusters', () => {
  it('gives each listener its own UID of kube-system, in get, list and watch', async () => {
    const [one, two] = await Promise.all([
      bed.proxy.listen({ name: 'one', server: bed.server, ownUid: true }),
      bed.proxy.listen({ name: 'two', server: bed.server, ownUid: true }),
    ]);
    const observedUid = async (listener: { url: string; caPem: string }): Promise<string[]> => {
      const other = httpsClient(listener, bed.server.certificateFor(ADMIN));
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
    const uids = await Promise.all([bed.proxy.uid(), one.uid(), two.uid()]);
    expect(new Set(uids).size).toBe(3);
    expect(await Promise.all([bed.proxy, one, two].map(observedUid))).toEqual(
      uids.map((uid) => [uid, uid, uid]),
    );
  });

  it('forwards to several servers, each with its users, and exchanges them under a client', async () => {
    const other = await startApiServer();
    await bed.proxy.listen({ name: 'left', server: bed.server });
    const right = await bed.proxy.listen({
      name: 'right',
      server: other,
      as: { user: 'sync', groups: ['system:masters'] },
    });
    const throughRight = httpsClient(right, other.certificateFor(ADMIN));
    expect(await bed.whoAmI(throughRight)).toMatchObject({ username: 'sync' });
    await bed.create('here');
    expect(await bed.namesIn(throughRight)).toEqual([]);
    const before = await right.uid();
    bed.proxy.swap('left', 'right', { cutOpen: true });
    const swapped = httpsClient(right, bed.server.certificateFor(ADMIN));
    expect(await bed.namesIn(swapped)).toEqual(['here']);
    expect(await right.uid()).not.toBe(before);
    throughRight.close();
    swapped.close();
    await other.stop();
  });

  it('can have rules for one address only', async () => {
    const other = await bed.proxy.listen({ name: 'sick', server: bed.server });
    bed.proxy.on({ listener: 'sick', fault: answer(503) });
    const sick = httpsClient(other, bed.server.certificateFor(ADMIN));
    expect([(await sick.ask(MAPS)).status, (await bed.client.ask(MAPS)).status]).toEqual([503, 200]);
    sick.close();
  });
});

describe('the log', () => {
  it('logs user, call, body and outcome of each request', async () => {
    const body = { metadata: { name: 'a' } };
    await bed.client.ask(MAPS, { method: 'POST', body, headers: { 'user-agent': 'replica-1' } });
    await bed.client.ask(`${MAPS}?dryRun=All`, { method: 'POST', body: { metadata: { name: 'b' } } });
    await bed.client.ask(`${MAPS}/none`);
    expect(bed.proxy.log).toMatchObject([
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
    const [first, second] = bed.proxy.log;
    expect(first).toMatchObject({
      user: ADMIN.user,
      userAgent: 'replica-1',
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(first?.bodyHash).not.toBe(second?.bodyHash);
    expect(first?.at.getTime()).toBeLessThanOrEqual(second?.at.getTime() ?? 0);
    expect(writesIn(bed.proxy.log)).toEqual([first]);
  });

  it('logs that the server was unreachable', async () => {
    const other = await startApiServer();
    const alone = await faultProxy(other, 'alone');
    await other.kill();
    const lonely = httpsClient(alone, other.certificateFor(ADMIN));
    await expect(lonely.ask(MAPS)).rejects.toMatchObject({ code: 'ECONNRESET' });
    lonely.close();
    expect(alone.log).toMatchObject([
      { reached: true, serverStatus: undefined, status: undefined, fault: 'no upstream' },
    ]);
    await alone.close();
    await other.stop();
  });
});
