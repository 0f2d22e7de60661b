import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchText, openUrl } from '../../../src/os/net/http.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = createSystemClock();

describe('openUrl', () => {
  it('does not count the time in which the reader takes nothing', async () => {
    const virtual = virtualClock();
    let text = '';
    const url = await serve((_, response) => {
      response.write('a');
      void eventually(async () => text === 'a' || undefined, 'nothing arrived').then(() => response.end('b'));
    });
    const { body } = await openUrl(url, { clock: virtual, silenceMs: 30_000 });
    for await (const piece of body) {
      text += Buffer.from(piece).toString();
      // The reader keeps to its share of the bandwidth.
      await virtual.advance(60_000);
    }
    expect(text).toBe('ab');
  });

  it('counts the time in which the server sends nothing, from the end of a pause of the reader', async () => {
    const virtual = virtualClock();
    const url = await serve((_, response) => void response.write('a'));
    const { body } = await openUrl(url, { clock: virtual, silenceMs: 30_000 });
    const pieces = body[Symbol.asyncIterator]();
    await pieces.next();
    await virtual.advance(60_000);
    const failure = pieces.next().catch((error: unknown) => error);
    await virtual.advance(29_999);
    expect(virtual.sleepers).toBe(1);
    await virtual.advance(30_001);
    expect(await failure).toMatchObject({ message: 'no data for 30 s', retryable: true });
  });
});

describe('fetchText', () => {
  it('follows redirects and requests no compression', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/there' }).end();
      else response.end(`${request.url} ${request.headers['accept-encoding']}`);
    });
    expect(await fetchText(url, { clock })).toBe('/there identity');
  });

  it('sends credentials to the server that they are for, and to no other one', async () => {
    const got: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      got.push(request.headers.authorization);
      response.end('file');
    });
    const url = await serve((request, response) => {
      got.push(request.headers.authorization);
      response.writeHead(307, { location: request.url === '/' ? '/again' : other }).end();
    });
    expect(await fetchText(url, { clock, headers: { authorization: 'Bearer secret' } })).toBe('file');
    expect(got).toEqual(['Bearer secret', 'Bearer secret', undefined]);
  });

  it('shows no signature of a URL that it does not follow', async () => {
    const location = 'ftp://files.example.com/a?signature=secret';
    const url = await serve((_, response) => void response.writeHead(302, { location }).end());
    await expect(fetchText(url, { clock })).rejects.toThrow(
      /^the redirect to ftp:\/\/files\.example\.com\/a is refused$/,
    );
  });

  it.each([
    [404, false],
    [403, false],
    [408, true],
    [429, true],
    [500, true],
    [503, true],
  ])('rejects for status %i, retryable: %s', async (status, retryable) => {
    const url = await serve((_, response) => void response.writeHead(status).end('x'));
    await expect(fetchText(url, { clock })).rejects.toMatchObject({ name: 'HttpFailure', retryable });
  });

  it('rejects for a text that is larger than the limit, not retryable', async () => {
    const url = await serve((_, response) => void response.end('x'.repeat(11)));
    expect(await fetchText(url, { clock, maxBytes: 11 })).toHaveLength(11);
    await expect(fetchText(url, { clock, maxBytes: 10 })).rejects.toMatchObject({
      name: 'HttpFailure',
      message: 'the answer is larger than 10 bytes',
      retryable: false,
    });
  });

  it('ends a text without an end at 1 MiB', async () => {
    const url = await serve((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    await expect(fetchText(url, { clock })).rejects.toThrow('the answer is larger than 1048576 bytes');
  });

  it('rejects for a closed port, not retryable', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/`;
    await expect(fetchText(url, { clock })).rejects.toMatchObject({
      message: 'ECONNREFUSED',
      retryable: false,
    });
  });

  it('rejects when no data arrives, retryable', async () => {
    const url = await serve((_, response) => void response.writeHead(200).write('x'));
    await expect(fetchText(url, { clock, silenceMs: 100 })).rejects.toMatchObject({
      message: 'no data for 0 s',
      retryable: true,
    });
  });

  it("rejects with the signal's reason", async () => {
    const url = await serve(() => undefined);
    const promise = fetchText(url, { clock, signal: AbortSignal.timeout(50) });
    await expect(promise).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
