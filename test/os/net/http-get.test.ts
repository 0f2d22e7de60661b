import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpGet } from '../../../src/os/net/http-get.ts';

const MEBIBYTE = 1024 ** 2;

describe('httpGet', () => {
  it('follows no redirect', async () => {
    const url = await serve(
      (_, response) => void response.writeHead(302, { location: '/other' }).end('moved'),
    );
    expect(await httpGet(url, new AbortController().signal)).toEqual({ status: 302, body: 'moved' });
  });

  it('answers without a body', async () => {
    const url = await serve((_, response) => void response.writeHead(204).end());
    expect(await httpGet(url, new AbortController().signal)).toEqual({ status: 204, body: '' });
  });

  it('reads no more of a body than was asked for, also of one without an end', async () => {
    const url = await serve((_, response) => {
      Readable.from(endless()).pipe(response);
    });
    const { signal } = new AbortController();
    expect(await httpGet(url, signal, 0)).toEqual({ status: 200, body: '' });
    expect((await httpGet(url, signal, 10)).body).toBe('x'.repeat(10));
  });

  it('reads the first 4 MiB of an answer without an end', async () => {
    const url = await serve((_, response) => {
      Readable.from(endless()).pipe(response);
    });
    const { status, body } = await httpGet(url, new AbortController().signal);
    expect([status, body.length]).toEqual([200, 4 * MEBIBYTE]);
  });
});

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(MEBIBYTE, 'x');
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
