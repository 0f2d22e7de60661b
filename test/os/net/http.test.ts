import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fetchText } from '../../../src/os/net/http.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const clock = createSystemClock();

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
