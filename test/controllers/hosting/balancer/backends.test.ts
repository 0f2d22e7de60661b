import { createServer, type Server } from 'node:https';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Backend,
  backendsInOrder,
  createBackends,
  watchBackends,
} from '../../../../src/controllers/hosting/balancer/backends.ts';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../../src/local/pki/certificate.ts';
import { closeServer, listenOn } from '../../../../src/os/net/http-server.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const clock = createSystemClock();
const HOST = '127.0.0.1';

function backend(port: number, parts: Partial<Backend> = {}): Backend {
  return { port, isReady: true, readyAtMs: 1, open: 0, given: 0, ...parts };
}

const soon = { interval: 20 };

function newAuthority(): CertificatePair {
  return createAuthority('ca', clock.now(), 1);
}

function apiServer(authority: CertificatePair, status: () => number): Server {
  const life = { now: clock.now(), seconds: 3600 } as const;
  const subject = { commonName: 'kube-apiserver' };
  const pair = issueCertificate(authority, { subject, usage: 'server', names: [HOST], ...life });
  return createServer({ cert: pair.certPem, key: pair.keyPem }, (request, response) => {
    response.statusCode = request.url === '/readyz' ? status() : 404;
    response.end();
  });
}

/** Watches the API server with that port until the test ends. Returns whether it is found ready. */
function watched(port: number, ca: () => string): () => boolean | undefined {
  const backends = createBackends([port]);
  const stopped = new AbortController();
  const readCa = async (): Promise<string> => ca();
  const watching = watchBackends(backends, { readCa, clock, signal: stopped.signal });
  onTestFinished(async () => {
    stopped.abort();
    await watching;
  });
  return () => backends[0]?.isReady;
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

  it('HOS-13 tries the one that was ready last where none is, before one that starts', () => {
    const backends = [
      backend(1, { isReady: false, readyAtMs: undefined }),
      backend(2, { isReady: false, readyAtMs: 2000, open: 5 }),
      backend(3, { isReady: false, readyAtMs: 1000 }),
      backend(4, { isReady: false, readyAtMs: 2000, open: 1 }),
    ];
    expect(backendsInOrder(backends).map(({ port }) => port)).toEqual([4, 2, 3, 1]);
  });

  it('HOS-13 notices within a second that an API server is ready, is not any more, and has ended', async () => {
    const authority = newAuthority();
    let status = 200;
    const server = apiServer(authority, () => status);
    const isReady = watched(
      await listenOn(server, 'a test', { host: HOST, port: 0 }),
      () => authority.certPem,
    );
    await expect.poll(isReady, soon).toBe(true);
    status = 503;
    await expect.poll(isReady, soon).toBe(false);
    status = 200;
    await expect.poll(isReady, soon).toBe(true);
    await closeServer(server);
    await expect.poll(isReady, soon).toBe(false);
  });

  it('HOS-22 trusts what its file has now, and what it had last when it cannot be read', async () => {
    const [former, next] = [newAuthority(), newAuthority()];
    let trusted: string | undefined = former.certPem;
    const server = apiServer(next, () => 200);
    onTestFinished(async () => await closeServer(server));
    const port = await listenOn(server, 'a test', { host: HOST, port: 0 });
    const isReady = watched(port, () => {
      if (trusted === undefined) throw new Error('it is not there');
      return trusted;
    });
    const first = apiServer(former, () => 200);
    onTestFinished(async () => await closeServer(first));
    const firstReady = watched(
      await listenOn(first, 'a test', { host: HOST, port: 0 }),
      () => trusted ?? former.certPem,
    );
    await expect.poll(firstReady, soon).toBe(true);
    expect(isReady()).toBe(false);
    trusted = former.certPem + next.certPem;
    await expect.poll(isReady, soon).toBe(true);
    trusted = undefined;
    server.closeAllConnections();
    await expect.poll(isReady, soon).toBe(true);
    trusted = 'no certificate';
    await expect.poll(isReady, soon).toBe(false);
    trusted = next.certPem;
    await expect.poll(isReady, soon).toBe(true);
    await expect.poll(firstReady, soon).toBe(false);
  });
});
