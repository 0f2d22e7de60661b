import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../../../src/os/net/exchange.ts';
import { createFastClock } from '../../support/fast-clock.ts';

const LIMITS = { clock: createFastClock(), signal: new AbortController().signal, timeoutMs: 200_000 };

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('exchange', () => {
  it('returns status, headers and body, and sends those of the request', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += String(piece);
      });
      request.on('end', () => {
        response.writeHead(418, { 'retry-after': '7' });
        response.end(`${request.method} ${String(request.headers['x-a'])} ${body}`);
      });
    });
    const answer = await exchange(url, { method: 'PUT', headers: { 'x-a': '1' }, body: 'sent' }, LIMITS);
    expect([answer.status, answer.headers.get('retry-after'), answer.body]).toEqual([418, '7', 'PUT 1 sent']);
  });

  it.each([
    ['a header with a line break', 'http://127.0.0.1:1/', 'sec\nret'],
    ['a URL with a password', 'http://a:secret@127.0.0.1:1/', 'x'],
    ['a URL with a space', 'http://sec ret', 'x'],
  ])('quotes no secret of a request that cannot be sent: %s', async (_, url, value) => {
    const failure = exchange(url, { method: 'GET', headers: { 'x-token': value } }, LIMITS);
    const error: unknown = await failure.catch((thrown: unknown) => thrown);
    expect(inspect(error)).toContain('the request was not sent');
    expect(inspect(error)).not.toMatch(/sec\s?ret/);
  });

  it('follows no redirect, so that credentials stay where they were sent', async () => {
    const url = await serve((_, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/' });
      response.end();
    });
    expect((await exchange(url, { method: 'GET' }, LIMITS)).status).toBe(307);
  });

  it('rejects when there is no whole answer in time', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200);
      response.write('half');
    });
    const limits = { ...LIMITS, timeoutMs: 10_000 };
    await expect(exchange(url, { method: 'GET' }, limits)).rejects.toThrow('no answer within 10 s');
  });

  it('rejects with the reason of its signal', async () => {
    const url = await serve(() => undefined);
    const limits = { ...LIMITS, signal: AbortSignal.abort(new Error('stopped')) };
    await expect(exchange(url, { method: 'GET' }, limits)).rejects.toThrow('stopped');
  });

  it('rejects an answer that does not end before it takes the memory', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(1024 ** 2);
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
        response.once('drain', write);
      };
      write();
    });
    await expect(exchange(url, { method: 'GET' }, LIMITS)).rejects.toThrow('the answer is larger than');
  });
});
