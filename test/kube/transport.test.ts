/** One contract, two transports: what a request looks like on the wire, and what each fault is called. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Connection,
  type CredentialSources,
  impersonationHeaders,
  sourceCredentials,
} from '../../src/kube/credentials.ts';
import { isKubeError, type KubeError } from '../../src/kube/errors.ts';
import type { TransportOptions } from '../../src/kube/exchange.ts';
import { httpsTransport } from '../../src/kube/https-transport.ts';
import { systemClock } from '../../src/kube/system-clock.ts';
import type { HttpRequest, HttpStream, Transport } from '../../src/kube/transport.ts';
import { undiciTransport } from '../../src/kube/undici-transport.ts';
import { createAuthority } from '../../src/local/pki/certificate.ts';
import { tempFolder } from '../support/temp.ts';
import { authority, bodyOf, clientPair, expiredPair, serverPair, tlsServer } from './tls-server.ts';

const GET: HttpRequest = { method: 'GET', path: '/api/v1/nodes' };
const clock = systemClock();

describe.each<[string, (connection: Connection, options?: TransportOptions) => Transport]>([
  ['undici', undiciTransport],
  ['node:https', httpsTransport],
])('%s transport', (_, transportOf) => {
  function open(server: string, sources: CredentialSources = {}, options?: TransportOptions): Transport {
    const all = { ca: authority.certPem, ...sources };
    const credentials = sourceCredentials(all, { clock, origin: 'this test', checkEveryMs: 0 });
    const transport = transportOf({ server, credentials, userAgent: 'kubenode/test' }, options);
    onTestFinished(() => transport.close());
    return transport;
  }

  describe('a request', () => {
    it('carries method, path behind the prefix, query, body and headers', async () => {
      const server = await tlsServer();
      const seen: unknown[] = [];
      server.answer(async (request, response) => {
        const { method, url, headers } = request;
        seen.push({ method, url, headers, body: await bodyOf(request) });
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
      expect(seen).toMatchObject([
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

    it.each([200, 302, 401, 404, 409, 429, 500, 503])('resolves with status %i', async (status) => {
      const server = await tlsServer();
      server.answer((__, response) => response.writeHead(status, { location: '/elsewhere' }).end('words'));
      expect(await open(server.url).request(GET)).toMatchObject({ status, body: 'words' });
    });

    it('reads a large body, and characters that are split over its pieces', async () => {
      const server = await tlsServer();
      const text = 'ü€😀'.repeat(1_000_000);
      server.answer((__, response) => {
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += 65_537) response.write(bytes.subarray(at, at + 65_537));
        response.end();
      });
      const { body } = await open(server.url).request(GET);
      expect(body === text).toBe(true);
    });

    it('asks for gzip only when told to, and unpacks it', async () => {
      const server = await tlsServer();
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
    // undici opens a second one when a call follows so closely that the first is still being tidied up.
    it('are kept: many calls, one or two handshakes', async () => {
      const server = await tlsServer();
      const transport = open(server.url);
      for (let call = 0; call < 50; call += 1) await transport.request(GET);
      expect(server.handshakes()).toBeLessThanOrEqual(2);
    });

    it('are limited: more calls wait', async () => {
      const server = await tlsServer();
      const transport = open(server.url, {}, { maxConnections: 3 });
      await Promise.all(Array.from({ length: 60 }, () => transport.request(GET)));
      expect(server.handshakes()).toBeLessThanOrEqual(3);
    });

    it('are kept after an error status with a body', async () => {
      const server = await tlsServer();
      server.answer((__, response) => response.writeHead(500).end('x'.repeat(100_000)));
      const transport = open(server.url);
      for (let call = 0; call < 5; call += 1) await transport.request(GET);
      expect(server.handshakes()).toBeLessThanOrEqual(2);
    });

    it('of watches take no place of calls', async () => {
      const server = await tlsServer();
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

  describe('faults', () => {
    it('refused', async () => {
      const { error } = await failing(open(`https://127.0.0.1:${await unusedPort()}`));
      expect(error).toMatchObject({ code: 'Unreachable', reason: 'ECONNREFUSED' });
      expect(error.message).toContain('refused');
    });

    it('an unknown host', async () => {
      const { error } = await failing(open('https://nowhere.invalid:6443'));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('host name');
    });

    it('a reset before the answer', async () => {
      const server = await tlsServer();
      server.answer((request) => request.socket.destroy());
      expect((await failing(open(server.url))).error.code).toBe('Unreachable');
    });

    it.each([
      ['a length', { 'content-length': '100' }],
      ['chunks', {}],
      ['gzip', { 'content-encoding': 'gzip' }],
    ])('a body with %s that is cut off', async (__, headers) => {
      const server = await tlsServer();
      server.answer((request, response) => {
        response.writeHead(200, headers as Record<string, string>);
        const part = 'content-encoding' in headers ? gzipSync('{"items":[]}').subarray(0, 15) : '{"items":[';
        response.write(part, () => request.socket.destroy());
      });
      const { error } = await failing(open(server.url, {}, { gzip: true }));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('cut off');
    });

    it('gzip that ends too early, in a body that ends in good order', async () => {
      const server = await tlsServer();
      server.answer((__, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"items":[]}').subarray(0, 20));
      });
      expect((await failing(open(server.url, {}, { gzip: true }))).error.code).toBe('Unreachable');
    });

    it('an encoding that nobody asked for', async () => {
      const server = await tlsServer();
      server.answer((__, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('?'));
      expect((await failing(open(server.url))).error.code).toBe('BadAnswer');
    });

    it('no answer in time', async () => {
      const server = await tlsServer();
      server.answer(() => {});
      const { error } = await failing(open(server.url), { timeoutMs: 60 });
      expect(error.code).toBe('Timeout');
      expect(error.message).toContain('0.06 s');
    });

    it('an answer that stops in the middle', async () => {
      const server = await tlsServer();
      server.answer((__, response) => response.write('{"items":['));
      expect((await failing(open(server.url), { timeoutMs: 60 })).error.code).toBe('Timeout');
    });

    it('something that speaks no TLS', async () => {
      const port = await rawServer('HTTP/1.1 400 Bad Request\r\n\r\n');
      const { error } = await failing(open(`https://127.0.0.1:${port}`));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('speaks no TLS');
    });

    it('something that speaks no HTTP', async () => {
      const port = await rawServer('SSH-2.0-OpenSSH_9.2\r\n');
      expect((await failing(open(`http://127.0.0.1:${port}`))).error.code).toBe('Unreachable');
    });

    it('giving up before it is sent, while waiting, and in the middle of the body', async () => {
      const server = await tlsServer();
      let requests = 0;
      const giveUp = new AbortController();
      server.answer((request, response) => {
        requests += 1;
        if (request.url === '/waiting') setImmediate(() => giveUp.abort(new Error('enough')));
        else response.write('begun', () => setImmediate(() => giveUp.abort(new Error('enough'))));
      });
      const transport = open(server.url);
      const early = await failing(transport, { signal: AbortSignal.abort() });
      expect([early.error.code, requests]).toEqual(['Aborted', 0]);

      const { error } = await failing(transport, { path: '/waiting', signal: giveUp.signal });
      expect(error).toMatchObject({ code: 'Aborted', cause: new Error('enough') });

      const late = new AbortController();
      server.answer((__, response) => response.write('begun', () => setImmediate(() => late.abort())));
      expect((await failing(transport, { signal: late.signal })).error.code).toBe('Aborted');
    });

    it('leave the next call alone', async () => {
      const server = await tlsServer();
      let calls = 0;
      server.answer((request, response) => {
        calls += 1;
        if (calls % 2 === 1) request.socket.destroy();
        else response.end('{}');
      });
      const transport = open(server.url);
      for (let pair = 0; pair < 5; pair += 1) {
        expect((await failing(transport)).error.code).toBe('Unreachable');
        expect((await transport.request(GET)).status).toBe(200);
      }
    });
  });

  describe('a stream', () => {
    it('gives each piece as soon as it is there, and ends with the server', async () => {
      const server = await tlsServer();
      const next = new EventTarget();
      server.answer(async (__, response) => {
        for (const piece of ['one', 'two', 'three']) {
          response.write(piece);
          await once(next, 'go');
        }
        response.end();
      });
      const { status, body } = await open(server.url).stream(GET);
      const pieces: string[] = [];
      for await (const piece of body) {
        pieces.push(Buffer.from(piece).toString());
        next.dispatchEvent(new Event('go'));
      }
      expect([status, ...pieces]).toEqual([200, 'one', 'two', 'three']);
    });

    it('that breaks off rejects in the middle', async () => {
      const server = await tlsServer();
      server.answer((request, response) => response.write('one', () => request.socket.destroy()));
      const { body } = await open(server.url).stream(GET);
      const error = await drained(body);
      expect(error).toMatchObject({ code: 'Unreachable' });
    });

    it('that is left early ends its connection', async () => {
      const server = await tlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const stream = await open(server.url).stream(GET);
      expect(await firstOf(stream)).toBe('one');
      await closed.promise;
    });

    it('that is never read ends by itself, and hurts nobody', async () => {
      const server = await tlsServer();
      const closed = Promise.withResolvers<void>();
      server.answer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.write('one');
      });
      const { status } = await open(server.url).stream({ ...GET, timeoutMs: 1000 });
      await closed.promise;
      expect(status).toBe(200);
    });

    it('has its time limit between two pieces, not over all', async () => {
      const server = await tlsServer();
      let sent = 0;
      server.answer((__, response) => {
        const timer = setInterval(() => {
          sent += 1;
          if (sent <= 8) response.write('.');
        }, 100);
        onTestFinished(() => clearInterval(timer));
      });
      const { body } = await open(server.url).stream({ ...GET, timeoutMs: 700 });
      let pieces = 0;
      const error = await drained(body, () => {
        pieces += 1;
      });
      expect(error).toMatchObject({ code: 'Timeout' });
      expect(pieces).toBe(8);
    });

    it('is given up by its signal', async () => {
      const server = await tlsServer();
      server.answer((__, response) => response.write('one'));
      const giveUp = new AbortController();
      const { body } = await open(server.url).stream({ ...GET, signal: giveUp.signal });
      expect(await drained(body, () => giveUp.abort())).toMatchObject({ code: 'Aborted' });
    });
  });

  describe('trust', () => {
    it('refuses an unknown authority, in words', async () => {
      const other = createAuthority('kubernetes', clock.now(), 1);
      const server = await tlsServer({ pair: serverPair(other) });
      const { error } = await failing(open(server.url));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('signed by an authority that is not trusted');
    });

    it('refuses an expired certificate, in words', async () => {
      const server = await tlsServer({ pair: expiredPair() });
      const { error } = await failing(open(server.url));
      expect(error).toMatchObject({ code: 'Unreachable', reason: 'CERT_HAS_EXPIRED' });
      expect(error.message).toContain('has expired');
    });

    it('refuses another name, unless told which', async () => {
      const server = await tlsServer({ pair: serverPair(authority, ['kubernetes.default']) });
      const { error } = await failing(open(server.url));
      expect(error.message).toContain('for another name');
      const named = open(server.url, { servername: 'kubernetes.default' });
      expect((await named.request(GET)).status).toBe(200);
    });

    it('accepts anything when told to be insecure', async () => {
      const server = await tlsServer({ pair: expiredPair() });
      expect((await open(server.url, { insecure: true }).request(GET)).status).toBe(200);
    });
  });

  describe('files that change', () => {
    it('client certificate: new calls are the new user, a watch goes on as the old one', async () => {
      const server = await tlsServer();
      server.answer((request, response) => {
        if (request.url?.includes('watch')) response.write('begun');
        else response.end('{}');
      });
      const files = filesFor(clientPair('first'));
      const transport = open(server.url, { certFile: files.cert, keyFile: files.key });
      await transport.request(GET);
      const watch = await transport.stream({ ...GET, query: { watch: '1' } });
      files.write(clientPair('second'));
      await transport.request(GET);
      expect(server.users).toEqual(['first', 'first', 'second']);
      expect(await firstOf(watch)).toBe('begun');
    });

    it('a certificate without its key yet: the old pair goes on', async () => {
      const server = await tlsServer();
      const first = clientPair('first');
      const second = clientPair('second');
      const files = filesFor(first);
      const transport = open(server.url, { certFile: files.cert, keyFile: files.key });
      await transport.request(GET);
      files.write({ certPem: second.certPem, keyPem: first.keyPem });
      expect((await transport.request(GET)).status).toBe(200);
      files.write(second);
      await transport.request(GET);
      expect(server.users).toEqual(['first', 'second']);
    });

    it('CA: a server with a new one is trusted as soon as the file has it', async () => {
      const server = await tlsServer();
      const caFile = join(tempFolder(), 'ca.crt');
      writeFileSync(caFile, authority.certPem);
      const credentials = sourceCredentials(
        { caFile },
        { clock, origin: 'this test', checkEveryMs: 3_600_000 },
      );
      const transport = transportOf({ server: server.url, credentials });
      onTestFinished(() => transport.close());
      await transport.request(GET);

      const next = createAuthority('kubernetes', clock.now(), 1);
      server.present(serverPair(next));
      // A connection that the server just closed may take one call down with it before the handshake is tried.
      let { error } = await failing(transport);
      const closed = ['ECONNRESET', 'UND_ERR_SOCKET'].includes(error.reason ?? '');
      if (closed) ({ error } = await failing(transport));
      expect(error.message).toContain('not trusted');
      writeFileSync(caFile, next.certPem);
      expect((await transport.request(GET)).status).toBe(200);
    });

    it('token: the next call has the new one', async () => {
      const server = await tlsServer();
      const tokens: unknown[] = [];
      server.answer((request, response) => {
        tokens.push(request.headers.authorization);
        response.end('{}');
      });
      const tokenFile = join(tempFolder(), 'token');
      writeFileSync(tokenFile, 'first\n');
      const transport = open(server.url, { tokenFile });
      await transport.request(GET);
      writeFileSync(tokenFile, 'second\n');
      await transport.request(GET);
      expect(tokens).toEqual(['Bearer first', 'Bearer second']);
    });

    it('token: a 401 makes us look at once', async () => {
      const server = await tlsServer();
      server.answer((request, response) => {
        response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end('{}');
      });
      const tokenFile = join(tempFolder(), 'token');
      writeFileSync(tokenFile, 'old');
      const credentials = sourceCredentials(
        { ca: authority.certPem, tokenFile },
        { clock, origin: 'this test', checkEveryMs: 3_600_000 },
      );
      const transport = transportOf({ server: server.url, credentials });
      onTestFinished(() => transport.close());
      await transport.request(GET);
      writeFileSync(tokenFile, 'new');
      expect((await transport.request(GET)).status).toBe(200);
    });

    it('missing: the error names the file and who named it', async () => {
      const { error } = await failing(open('https://127.0.0.1:1', { tokenFile: '/nowhere/token' }));
      expect(error.code).toBe('Credentials');
      expect(error.message).toBe('the credential file /nowhere/token does not exist (this test)');
    });
  });

  it('is closed for good: what is under way ends, and nothing begins', async () => {
    const server = await tlsServer();
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

async function failing(
  transport: Transport,
  request: Partial<HttpRequest> = {},
): Promise<{ error: KubeError }> {
  const outcome: unknown = await transport.request({ ...GET, ...request }).catch((error: unknown) => error);
  if (!isKubeError(outcome)) throw new Error(`expected a KubeError, got ${JSON.stringify(outcome)}`);
  return { error: outcome };
}

async function firstOf({ body }: HttpStream): Promise<string> {
  for await (const piece of body) return Buffer.from(piece).toString();
  return '';
}

async function drained(body: AsyncIterable<Uint8Array>, each: () => void = () => {}): Promise<unknown> {
  try {
    for await (const _ of body) each();
    return 'a clean end';
  } catch (error) {
    return error;
  }
}

function filesFor(pair: { certPem: string; keyPem: string }) {
  const folder = tempFolder();
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), write };
  write(pair);
  return files;

  function write({ certPem, keyPem }: { certPem: string; keyPem: string }): void {
    writeFileSync(files.cert, certPem);
    writeFileSync(files.key, keyPem);
  }
}

/** Answers whoever connects with these bytes. */
async function rawServer(bytes: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
