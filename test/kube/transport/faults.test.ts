/** One contract for both transports: the error of each network fault. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startTlsServer } from '../../support/kube/tls-server.ts';
import { failing, GET, opener, rawServer, TRANSPORTS, unusedPort } from '../../support/kube/transport-bed.ts';

describe.each(TRANSPORTS)('%s transport', (_, transportOf) => {
  const open = opener(transportOf);

  describe('faults', () => {
    it('a refused connection', async () => {
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
      const server = await startTlsServer();
      server.answer((request) => request.socket.destroy());
      expect((await failing(open(server.url))).error.code).toBe('Unreachable');
    });

    it.each([
      ['a length', { 'content-length': '100' }],
      ['chunks', {}],
      ['gzip', { 'content-encoding': 'gzip' }],
    ])('a body with %s that is cut off', async (__, headers) => {
      const server = await startTlsServer();
      server.answer((request, response) => {
        response.writeHead(200, headers as Record<string, string>);
        const part = 'content-encoding' in headers ? gzipSync('{"items":[]}').subarray(0, 15) : '{"items":[';
        response.write(part, () => request.socket.destroy());
      });
      const { error } = await failing(open(server.url, {}, { gzip: true }));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('cut off');
    });

    it('truncated gzip in a complete body', async () => {
      const server = await startTlsServer();
      server.answer((__, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"items":[]}').subarray(0, 20));
      });
      expect((await failing(open(server.url, {}, { gzip: true }))).error.code).toBe('Unreachable');
    });

    it('an unrequested encoding', async () => {
      const server = await startTlsServer();
      server.answer((__, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('?'));
      expect((await failing(open(server.url))).error.code).toBe('BadAnswer');
    });

    it('no answer in time', async () => {
      const server = await startTlsServer();
      server.answer(() => {});
      const { error } = await failing(open(server.url), { timeoutMs: 60 });
      expect(error.code).toBe('Timeout');
      expect(error.message).toContain('0.06 s');
    });

    it('an answer that stalls', async () => {
      const server = await startTlsServer();
      server.answer((__, response) => response.write('{"items":['));
      expect((await failing(open(server.url), { timeoutMs: 60 })).error.code).toBe('Timeout');
    });

    it('a server that does not use TLS', async () => {
      const port = await rawServer('HTTP/1.1 400 Bad Request\r\n\r\n');
      const { error } = await failing(open(`https://127.0.0.1:${port}`));
      expect(error.code).toBe('Unreachable');
      expect(error.message).toContain('does not use TLS');
    });

    it('a server that does not use HTTP', async () => {
      const port = await rawServer('SSH-2.0-OpenSSH_9.2\r\n');
      expect((await failing(open(`http://127.0.0.1:${port}`))).error.code).toBe('Unreachable');
    });

    it('an abort before it is sent, while waiting, and within the body', async () => {
      const server = await startTlsServer();
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

    it('do not affect the next call', async () => {
      const server = await startTlsServer();
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
});
