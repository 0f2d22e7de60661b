import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type HealthOptions,
  type HealthServer,
  startHealthServer,
} from '../../../src/kube/process/health.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

async function started(options: Partial<HealthOptions> = {}): Promise<HealthServer> {
  const server = await startHealthServer({
    port: 0,
    clock: createSystemClock(),
    log: memoryLog(),
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

async function request(
  server: HealthServer,
  path: string,
  method = 'GET',
): Promise<[status: number, text: string]> {
  const response = await fetch(`${server.url}${path}`, { method });
  return [response.status, await response.text()];
}

describe('startHealthServer', () => {
  it('passes without checks', async () => {
    const server = await started();
    expect(await request(server, '/healthz')).toEqual([200, 'healthz check passed\n']);
    expect(await request(server, '/readyz?verbose')).toEqual([200, 'readyz check passed\n']);
  });

  it('names each check and its reason, sorted', async () => {
    const server = await started({
      alive: { loop: () => undefined },
      ready: { 'view Node': () => 'no list yet', leader: () => Promise.resolve(undefined) },
    });
    expect(await request(server, '/healthz')).toEqual([200, '[+]loop ok\nhealthz check passed\n']);
    expect(await request(server, '/readyz')).toEqual([
      503,
      '[+]leader ok\n[+]loop ok\n[-]view Node failed: no list yet\nreadyz check failed\n',
    ]);
  });

  it('is not ready when it is not alive', async () => {
    const server = await started({ alive: { loop: () => 'stuck' }, ready: {} });
    expect(await request(server, '/readyz')).toEqual([503, '[-]loop failed: stuck\nreadyz check failed\n']);
  });

  it('fails for a check that throws or rejects', async () => {
    const server = await started({
      ready: {
        throws: () => {
          throw new Error('broken\nin two');
        },
        rejects: () => Promise.reject(new Error('no connection')),
      },
    });
    expect((await request(server, '/readyz'))[1]).toBe(
      '[-]rejects failed: no connection\n[-]throws failed: broken in two\nreadyz check failed\n',
    );
  });

  it('times out a check that hangs', async () => {
    const clock = virtualClock();
    const server = await started({
      clock,
      checkTimeoutMs: 300,
      ready: { hangs: () => new Promise(() => {}) },
    });
    const answer = request(server, '/readyz');
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(300);
    expect(await answer).toEqual([503, '[-]hangs failed: no answer within 300 ms\nreadyz check failed\n']);
  });

  it('runs the checks for each request', async () => {
    let because: string | undefined = 'not yet';
    const server = await started({ ready: { view: () => because } });
    expect((await request(server, '/readyz'))[0]).toBe(503);
    because = undefined;
    expect((await request(server, '/readyz'))[0]).toBe(200);
  });

  it('serves metrics, and 404 when there are none', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'things_total', help: 'Things.' }).add({});
    expect((await request(await started({ metrics }), '/metrics'))[1]).toContain('kubenode_things_total 1');
    expect((await request(await started(), '/metrics'))[0]).toBe(404);
  });

  it('rejects other methods, and lists its endpoints for an unknown path', async () => {
    const server = await started();
    expect((await request(server, '/healthz', 'POST'))[0]).toBe(405);
    expect(await request(server, '/healthz', 'HEAD')).toEqual([200, '']);
    expect(await request(server, '/')).toEqual([404, 'not found. Endpoints: /healthz, /readyz, /metrics\n']);
  });

  it('answers 500 and logs when metrics cannot be read', async () => {
    const log = memoryLog();
    const metrics = { contentType: 'text/plain', text: () => Promise.reject(new Error('no')) };
    expect((await request(await started({ log, metrics }), '/metrics'))[0]).toBe(500);
    expect(log.lines.map(({ message }) => message)).toEqual(['health request failed']);
  });

  it('names the port that is in use', async () => {
    const { port } = await started();
    await expect(started({ port })).rejects.toThrow(`127.0.0.1:${port}: the port is in use`);
  });

  it('closes even while a request is in progress', async () => {
    const clock = virtualClock();
    const server = await started({ clock, ready: { hangs: () => new Promise(() => {}) } });
    const answer = request(server, '/readyz').catch((error: unknown) => error);
    await expect.poll(() => clock.sleepers).toBe(1);
    await server.close();
    expect(await answer).toBeInstanceOf(TypeError);
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow('fetch failed');
  });
});
