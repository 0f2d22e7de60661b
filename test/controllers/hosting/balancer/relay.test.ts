import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Backend, createBackends } from '../../../../src/controllers/hosting/balancer/backends.ts';
import { createRelay } from '../../../../src/controllers/hosting/balancer/relay.ts';
import { listenOn } from '../../../../src/os/net/http-server.ts';

const HOST = '127.0.0.1';

/** Listens on a free port, until the test ends. */
async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return await listenOn(server, 'a test', { host: HOST, port: 0 });
}

/** Answers the end of what a client sends with its name, and what it got. */
async function named(name: string): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let got = '';
    socket.on('data', (piece) => {
      got += String(piece);
    });
    socket.on('end', () => socket.end(`${name} got ${got}`));
  });
  return await listening(server);
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listenOn(server, 'a test', { host: HOST, port: 0 });
  server.close();
  await once(server, 'close');
  return port;
}

async function relayTo(backends: readonly Backend[]): Promise<number> {
  return await listening(createRelay(backends));
}

async function ask(port: number, question = 'hello'): Promise<string> {
  const socket = connect({ host: HOST, port, allowHalfOpen: true });
  socket.end(question);
  return await text(socket);
}

function ready(backends: readonly Backend[]): readonly Backend[] {
  for (const backend of backends) backend.isReady = true;
  return backends;
}

describe('the relay of a balancer', () => {
  it('passes both directions on, and the end of each', async () => {
    const port = await relayTo(ready(createBackends([await named('first')])));
    expect(await ask(port)).toBe('first got hello');
    const large = 'x'.repeat(1_000_000);
    expect((await ask(port, large)).length).toBe('first got '.length + large.length);
  });

  it('gives connections to the backends in turn', async () => {
    const port = await relayTo(ready(createBackends([await named('first'), await named('second')])));
    const answers = [await ask(port), await ask(port), await ask(port), await ask(port)];
    expect(answers.filter((answer) => answer.startsWith('first'))).toHaveLength(2);
  });

  it('HOS-13 gives no connection to a backend that is not ready, or does not accept it', async () => {
    const backends = createBackends([await named('first'), await closedPort(), await named('third')]);
    for (const backend of backends.slice(1)) backend.isReady = true;
    const port = await relayTo(backends);
    for (let n = 0; n < 4; n += 1) expect(await ask(port)).toBe('third got hello');
  });

  it('HOS-13 tries every backend when none is ready, and ends a connection that none accepts', async () => {
    const port = await relayTo(createBackends([await closedPort(), await named('second')]));
    expect(await ask(port)).toBe('second got hello');
    const withoutAny = await relayTo(createBackends([await closedPort()]));
    const socket = connect({ host: HOST, port: withoutAny });
    await once(socket, 'close');
  });

  it('ends the connection of the client with that of the backend, and counts it no more', async () => {
    const backends = ready(createBackends([await listening(createServer((socket) => socket.destroy()))]));
    const port = await relayTo(backends);
    const socket = connect({ host: HOST, port });
    socket.on('error', () => undefined);
    await once(socket, 'close');
    await expect.poll(() => backends[0]?.open).toBe(0);
  });

  it('ends the connection of the backend with that of the client', async () => {
    const server = createServer();
    const backends = ready(createBackends([await listening(server)]));
    const port = await relayTo(backends);
    const accepted = once(server, 'connection');
    const client = connect({ host: HOST, port });
    const [behind] = (await accepted) as [Socket];
    const closed = once(behind, 'close');
    client.destroy();
    behind.resume();
    await closed;
    await expect.poll(() => backends[0]?.open).toBe(0);
  });

  it('HOS-41 lets a client go that keeps its connection open after the API server has ended it', async () => {
    const backends = ready(createBackends([await listening(createServer((socket) => socket.end()))]));
    const relay = createRelay(backends, { lingerMs: 20 });
    const port = await listening(relay);
    const client = connect({ host: HOST, port, allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    client.resume();
    await once(client, 'end');
    await expect.poll(() => connectionsOf(relay)).toBe(0);
    await expect.poll(() => backends[0]?.open).toBe(0);
  });

  it('HOS-41 takes no more connections than its limit, and others when one of them has ended', async () => {
    const server = createServer((socket) => socket.resume());
    const backends = ready(createBackends([await listening(server)]));
    const relay = createRelay(backends, { maxConnections: 1 });
    const port = await listening(relay);
    const accepted = once(server, 'connection');
    const first = connect({ host: HOST, port });
    await accepted;
    const second = connect({ host: HOST, port });
    second.on('error', () => undefined);
    await once(second, 'close');
    expect(first.destroyed).toBe(false);
    first.destroy();
    await expect.poll(() => connectionsOf(relay)).toBe(0);
    const again = once(server, 'connection');
    const third = connect({ host: HOST, port });
    await again;
    third.destroy();
  });
});

async function connectionsOf(relay: Server): Promise<number> {
  return await new Promise((resolve) => {
    relay.getConnections((_, count) => resolve(count));
  });
}
