import { utimes, writeFile } from 'node:fs/promises';
import { request as openRequest } from 'node:https';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../../src/defender/http/api.ts';
import {
  type CertificateFiles,
  type HttpServer,
  type HttpServerOptions,
  startHttpServer,
} from '../../../src/defender/http/server.ts';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const NOW = createSystemClock().now();
const authority = createAuthority('test', NOW, 1);
/** The server ends the handshake: with an alert, or before the client has written. */
const REFUSED = /alert|hang up|ECONNRESET|EPIPE/;
const TIMEOUTS = { headersMs: 300, requestMs: 600, handshakeMs: 300, checkEveryMs: 50 };

function closing(server: HttpServer): HttpServer & AsyncDisposable {
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}

function certificate(commonName: string): CertificatePair {
  const names = ['localhost', '127.0.0.1'];
  return issueCertificate(authority, {
    subject: { commonName },
    usage: 'server',
    names,
    now: NOW,
    seconds: 86_400,
  });
}

describe('the server of the HTTP API', () => {
  const clock = virtualClock();
  const received: ApiRequest[] = [];
  let folder: string;
  let server: HttpServer;
  /** Its limits are so short that a busy machine may exceed them: it only ends what hangs. */
  let impatient: HttpServer;

  beforeAll(async () => {
    folder = tempFolder();
    await writePair(certificate('first'));
    server = await start();
    impatient = await start(TIMEOUTS);
  });
  afterAll(() => Promise.all([server.close(), impatient.close()]));

  function files(): CertificateFiles {
    return { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  }

  function start(timeouts?: typeof TIMEOUTS, more: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
    return startHttpServer({
      api: {
        handle: async (request) => {
          received.push(request);
          if (request.path === '/unread') return { status: 401, body: { read: 'nothing' } };
          return { status: 200, body: { read: (await request.readBody()).length } };
        },
      },
      port: 0,
      host: '127.0.0.1',
      certificate: files(),
      clock,
      log: memoryLog(),
      ...(timeouts && { timeouts }),
      connections: { total: 20, perAddress: 8, reserved: 4 },
      ...more,
    });
  }

  it('passes on method, path, token and address, and answers with JSON', async () => {
    const answer = await send('/v1/ask?x=1', 'hello', { authorization: 'Bearer abc' });
    expect(answer).toMatchObject({ status: 200, body: { read: 5 } });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    expect(received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/v1/ask',
      authorization: 'Bearer abc',
      address: '127.0.0.1',
    });
  });

  it.each([
    ['with its length', { 'content-length': '100000' }],
    ['in pieces without a length', { 'transfer-encoding': 'chunked' }],
  ])('reads at most 16 KiB of a body that arrives %s, and closes the connection', async (_, headers) => {
    const answer = await send('/v1/ask', 'x'.repeat(100_000), headers);
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
  });

  it('closes the connection of a request whose body nothing reads', async () => {
    expect(await send('/unread', 'x'.repeat(100_000))).toMatchObject({
      status: 401,
      headers: { connection: 'close' },
    });
  });

  it.each([
    ['headers that never end', 'POST /v1/ask HTTP/1.1\r\nHost: x\r\n'],
    ['a body that never ends', 'POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc'],
    ['a client that sends nothing', ''],
  ])('ends a connection with %s', async (_, text) => {
    expect(await untilClosed(text)).not.toContain('200 OK');
  });

  it('ends a connection that never finishes its TLS handshake, or speaks no TLS', async () => {
    const port = Number(new URL(impatient.url).port);
    for (const text of ['', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const socket = createConnection({ port, host: '127.0.0.1' }, () => void socket.write(text));
      const { promise, resolve } = Promise.withResolvers<undefined>();
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(undefined));
      socket.resume();
      await promise;
      expect(socket.destroyed).toBe(true);
    }
  });

  it('serves only clients of an authority, where one is given, and a larger body, where one is permitted', async () => {
    await writeFile(join(folder, 'ca.crt'), authority.certPem);
    await using strict = closing(
      await start(undefined, {
        certificate: { ...files(), clientCaFile: join(folder, 'ca.crt') },
        maxBodyBytes: 200_000,
      }),
    );
    const subject = { commonName: 'caller' };
    const own = { usage: 'client', names: [], now: NOW, seconds: 86_400 } as const;
    const client = issueCertificate(authority, { subject, ...own });
    const unknown = issueCertificate(createAuthority('other', NOW, 1), { subject, ...own });
    const body = 'x'.repeat(100_000);
    const call = (pair?: CertificatePair): Promise<Answered> =>
      send('/v1/ask', body, {}, { ...strict, pair });
    expect(await call(client)).toMatchObject({ status: 200, body: { read: 100_000 } });
    await expect(call(unknown)).rejects.toThrow(REFUSED);
    await expect(call()).rejects.toThrow(REFUSED);
  });

  it('answers while connections that send nothing take every place', async () => {
    const port = Number(new URL(server.url).port);
    const ended: Promise<unknown>[] = [];
    await using open = new AsyncDisposableStack();
    // More than all connections that the server takes, from a few addresses.
    for (let index = 0; index < 40; index += 1) {
      const localAddress = `127.0.0.${2 + (index % 4)}`;
      const socket = createConnection({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined);
      open.defer(() => void socket.destroy());
      ended.push(new Promise((resolve) => socket.once('close', resolve).resume()));
    }
    await Promise.race(ended);
    expect((await send('/v1/ask', 'hello')).status).toBe(200);
  });

  it('serves a renewed certificate without a restart', async () => {
    expect(await nameOfServer()).toBe('first');
    await writePair(certificate('second'));
    await utimes(join(folder, 'tls.crt'), new Date(0), new Date(0));
    await clock.advance(60_000);
    await expect.poll(nameOfServer).toBe('second');
  });

  async function writePair({ certPem, keyPem }: CertificatePair): Promise<void> {
    await writeFile(join(folder, 'tls.crt'), certPem);
    await writeFile(join(folder, 'tls.key'), keyPem);
  }

  interface Answered {
    readonly status: number | undefined;
    readonly headers: object;
    readonly body: unknown;
  }

  interface Target {
    readonly url: string;
    readonly pair?: CertificatePair | undefined;
  }

  function send(
    path: string,
    body: string,
    headers: Record<string, string> = {},
    { url, pair }: Target = server,
  ): Promise<Answered> {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    const outgoing = openRequest(new URL(path, url), {
      method: 'POST',
      ca: authority.certPem,
      ...(pair && { cert: pair.certPem, key: pair.keyPem }),
      headers,
      agent: false,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (message) => {
      let text = '';
      // What is written after the answer fails; that is not a failure of the answer.
      outgoing.off('error', reject).on('error', () => undefined);
      message.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      message.on('error', reject);
      message.on('end', () =>
        resolve({ status: message.statusCode, headers: message.headers, body: JSON.parse(text) as unknown }),
      );
    });
    outgoing.end(body);
    return promise;
  }

  /** What the server sends until it closes the connection. */
  function untilClosed(text: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    let answer = '';
    const port = Number(new URL(impatient.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certPem }, () => void socket.write(text));
    socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    return promise;
  }

  function nameOfServer(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const port = Number(new URL(server.url).port);
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certPem }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end();
    });
    socket.on('error', reject);
    return promise;
  }
});
