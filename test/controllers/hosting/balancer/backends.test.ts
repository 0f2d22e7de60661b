import { createServer } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Backend,
  backendsInOrder,
  createBackends,
  watchBackends,
} from '../../../../src/controllers/hosting/balancer/backends.ts';
import { createAuthority, issueCertificate } from '../../../../src/local/pki/certificate.ts';
import { closeServer, listenOn } from '../../../../src/os/net/http-server.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const clock = createSystemClock();
const HOST = '127.0.0.1';

function backend(port: number, parts: Partial<Backend> = {}): Backend {
  return { port, isReady: true, open: 0, given: 0, ...parts };
}

describe('the backends of a balancer', () => {
  it('HOS-13 tries those that are ready first, then the one with the fewest connections, then those that are not', () => {
    const backends = [
      backend(1, { isReady: false }),
      backend(2, { open: 2 }),
      backend(3, { open: 1, given: 9 }),
      backend(4, { open: 1, given: 3 }),
    ];
    expect(backendsInOrder(backends).map(({ port }) => port)).toEqual([4, 3, 2, 1]);
  });

  it('HOS-13 notices within a second that an API server is ready, is not any more, and has ended', async () => {
    const now = clock.now();
    const authority = createAuthority('ca', now, 1);
    const life = { now, seconds: 3600 } as const;
    const subject = { commonName: 'kube-apiserver' };
    const pair = issueCertificate(authority, { subject, usage: 'server', names: [HOST], ...life });
    let status = 200;
    const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (request, response) => {
      response.statusCode = request.url === '/readyz' ? status : 404;
      response.end();
    });
    const port = await listenOn(server, 'a test', { host: HOST, port: 0 });
    const backends = createBackends([port]);
    const stopped = new AbortController();
    const watching = watchBackends(backends, { ca: authority.certPem, clock, signal: stopped.signal });
    onTestFinished(async () => {
      stopped.abort();
      await watching;
    });
    const isReady = (): boolean | undefined => backends[0]?.isReady;
    const soon = { timeout: 3000, interval: 20 };
    await expect.poll(isReady, soon).toBe(true);
    status = 503;
    await expect.poll(isReady, soon).toBe(false);
    status = 200;
    await expect.poll(isReady, soon).toBe(true);
    await closeServer(server);
    await expect.poll(isReady, soon).toBe(false);
  });
});
