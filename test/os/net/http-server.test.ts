import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { closeServer, httpUrl, listenOn } from '../../../src/os/net/http-server.ts';

describe('an HTTP server', () => {
  it('listens on a free port, and ends although a client keeps its connection', async () => {
    const server = createServer((_, response) => response.end('here'));
    const port = await listenOn(server, 'a test', { host: '127.0.0.1', port: 0 });
    const url = httpUrl('http', { host: '127.0.0.1', port });
    expect(await (await fetch(url)).text()).toBe('here');
    await closeServer(server);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  it('names what is served where the port is taken, and why', async () => {
    const [first, second] = [createServer(), createServer()];
    const port = await listenOn(first, 'a test', { host: '127.0.0.1', port: 0 });
    await expect(listenOn(second, 'webhooks', { host: '127.0.0.1', port })).rejects.toThrow(
      `cannot serve webhooks on 127.0.0.1:${port}`,
    );
    await closeServer(first);
  });

  it('has a URL with brackets on an address of IPv6', () => {
    expect(httpUrl('https', { host: '::1', port: 1 })).toBe('https://[::1]:1');
  });
});
