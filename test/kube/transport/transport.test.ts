/** One contract for both transports: requests on the wire, and reuse of connections. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { impersonationHeaders } from '../../../src/kube/auth/credentials.ts';
import { bodyOf, startTlsServer } from '../../support/kube/tls-server.ts';
import { failing, firstOf, GET, opener, TRANSPORTS } from '../../support/kube/transport-bed.ts';

describe.each(TRANSPORTS)('%s transport', (_, transportOf) => {
  const open = opener(transportOf);

  describe('a request', () => {
    it('has method, path with the prefix, query, body and headers', async () => {
      const server = await startTlsServer();
      const requests: unknown[] = [];
      server.answer(async (request, response) => {
        const { method, url, headers } = request;
        requests.push({ method, url, headers, body: await bodyOf(request) });
        response.writeHead(201, { 'X-Test': 'yes' }).end('{"ok":true}');
      });
      const headers = impersonationHeaders({ user: 'jane', groups: ['a', 'b'], extra: { 'x.y/z': ['1'] } });
      const transport = open(`${server.url}/clusters/c-1/`, { token: ' secret\n', headers });

      const answer = await transport.request({
        method: 'PATCH',
        path: '/api/v1/nodes/%C3%A9',
        query: { fieldManager: 'me & you', dryRun: undefined },
        body: '{"ä":1}',
        contentType: 'application/apply-patch+yaml',
      });

      expect(answer).toMatchObject({ status: 201, headers: { 'x-test': 'yes' }, body: '{"ok":true}' });
      expect(requests).toMatchObject([
        {
          method: 'PATCH',
          url: '/clusters/c-1/api/v1/nodes/%C3%A9?fieldManager=me+%26+you',
          headers: {
            accept: 'application/json',
            authorization: 'Bearer secret',
            'content-type': 'application/apply-patch+yaml',
            'content-length': '8',
            'impersonate-user': 'jane',
            'impersonate-group': 'a, b',
            'impersonate-extra-x.y%2fz': '1',
            'user-agent': 'kubenode/test',
          },
          body: '{"ä":1}',
        },
      ]);
    });

    it('acts as the user that it names, with no group of the one that the credentials name', async () => {
      const server = await startTlsServer();
      const users: unknown[] = [];
      server.answer(({ headers: sent }, response) => {
        users.push([sent['impersonate-user'], sent['impersonate-group'], sent.authorization]);
        response.end('{}');
      });
      const headers = impersonationHeaders({ user: 'jane', groups: ['admins'] });
      const transport = open(server.url, { token: 'secret', headers });
      await transport.request({ ...GET, impersonate: { user: 'system:serviceaccount:shop:web' } });
      await transport.request(GET);
      expect(users).toEqual([
        ['system:serviceaccount:shop:web', undefined, 'Bearer secret'],
        ['jane', 'admins', 'Bearer secret'],
      ]);
    });

    it.each([200, 302, 401, 404, 409, 429, 500, 503])('resolves with status %i', async (status) => {
      const server = await startTlsServer();
      server.answer((__, response) => response.writeHead(status, { location: '/elsewhere' }).end('words'));
      expect(await open(server.url).request(GET)).toMatchObject({ status, body: 'words' });
    });

    it('reads a large body, with characters that are split between chunks', async () => {
      const server = await startTlsServer();
      const text = 'ü€😀'.repeat(1_000_000);
      server.answer((__, response) => {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += 65_537) response.write(bytes.subarray(at, at + 65_537));
        response.end();
      });
      const { body } = await open(server.url).request(GET);
      expect(body === text).toBe(true);
    });

    it('requests gzip only when configured, and decompresses it', async () => {
      const server = await startTlsServer();
      server.answer((request, response) => {
        const packs = request.headers['accept-encoding'] === 'gzip';
        response.writeHead(200, packs ? { 'content-encoding': 'gzip' } : {});
        response.end(packs ? gzipSync('packed') : 'plain');
      });
      expect((await open(server.url).request(GET)).body).toBe('plain');
      expect((await open(server.url, {}, { gzip: true }).request(GET)).body).toBe('packed');
    });
  });

  describe('connections', () => {
    it('are reused: many calls, one or two handshakes', async () => {
      const server = await startTlsServer();
      const transport = open(server.url);
      for (let call = 0; call < 50; call += 1) await transport.request(GET);
      expect(server.handshakes()).toBeLessThanOrEqual(2);
    });

    it('are limited, and more calls wait', async () => {
      const server = await startTlsServer();
      const transport = open(server.url, {}, { maxConnections: 3 });
      await Promise.all(Array.from({ length: 60 }, () => transport.request(GET)));
      expect(server.handshakes()).toBeLessThanOrEqual(3);
    });

    it('are reused after an error status with a body', async () => {
      const server = await startTlsServer();
      server.answer((__, response) => response.writeHead(500).end('x'.repeat(100_000)));
      const transport = open(server.url);
      for (let call = 0; call < 5; call += 1) await transport.request(GET);
      expect(server.handshakes()).toBeLessThanOrEqual(2);
    });

    it('of watches do not count for the limit of calls', async () => {
      const server = await startTlsServer();
      server.answer((request, response) => {
        if (request.url?.includes('watch')) response.write('begun\n');
        else response.end('{}');
      });
      const transport = open(server.url, {}, { maxConnections: 1 });
      const watches = await Promise.all(
        [1, 2, 3].map(() => transport.stream({ ...GET, query: { watch: '1' } })),
      );
      expect((await transport.request(GET)).status).toBe(200);
      for (const watch of watches) expect(await firstOf(watch)).toBe('begun\n');
    });
  });

  it('stays closed: requests in flight end, and no new ones start', async () => {
    const server = await startTlsServer();
    const arrived = Promise.withResolvers<void>();
    server.answer(() => arrived.resolve());
    const transport = open(server.url);
    const running = failing(transport);
    await arrived.promise;
    await transport.close();
    expect((await running).error.code).toBe('Unreachable');
    expect((await failing(transport)).error.code).toBe('Aborted');
  });
});
