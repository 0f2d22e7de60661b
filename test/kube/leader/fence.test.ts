import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Credentials } from '../../../src/kube/auth/credentials.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import { createFencedTransport } from '../../../src/kube/leader/fence.ts';
import { LeaseLost } from '../../../src/kube/leader/term.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createHttpsTransport } from '../../../src/kube/transport/https.ts';
import { createLimiter, type Limiter } from '../../../src/kube/transport/limiter.ts';
import type { Transport } from '../../../src/kube/transport/transport.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { startTlsServer, type TlsServer } from '../../support/kube/tls-server.ts';
import { opener } from '../../support/kube/transport-bed.ts';

const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }));
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' } };

describe.each<[name: string, make: (credentials: Credentials) => Transport]>([
  ['node:https', (credentials) => createHttpsTransport({ server: url, credentials })],
])('a fence over %s', (_, make) => {
  it('always allows reads, and writes only while the lease is held', async () => {
    requests.length = 0;
    let held = true;
    const transport = createFencedTransport(make(ready()), () => {
      if (!held) throw new LeaseLost('system/controllers', 'taken');
    });
    const client = createRestClient(transport, { server: url, clock: createSystemClock() });
    await client.create(CONFIG_MAPS, MAP);
    held = false;
    await client.get(CONFIG_MAPS, { name: 'a', namespace: 'b' });
    await expect(client.create(CONFIG_MAPS, MAP)).rejects.toMatchObject({ code: 'Aborted' });
    await expect(client.delete(CONFIG_MAPS, { name: 'a' }, { uid: 'u' })).rejects.toThrow(
      'another process holds it',
    );
    expect(requests.map((line) => line.split(' ')[0])).toEqual(['POST', 'GET']);
    await client.close();
  });

  it('SAF-14 is checked after the credentials are available', async () => {
    requests.length = 0;
    const credentials = Promise.withResolvers<void>();
    let held = true;
    const transport = createFencedTransport(make(ready(credentials.promise)), () => {
      if (!held) throw new LeaseLost('system/controllers', 'expired');
    });
    const client = createRestClient(transport, { server: url, clock: createSystemClock() });
    const write = client.create(CONFIG_MAPS, MAP).catch((error: unknown) => error);
    held = false;
    credentials.resolve();
    expect(await write).toMatchObject({ code: 'Aborted' });
    expect(requests).toEqual([]);
    await client.close();
  });
});

function ready(wait?: Promise<void>): Credentials {
  return {
    current: async () => {
      await wait;
      return { tls: {}, headers: {} };
    },
    forget: () => {},
  };
}

describe('the fence of a write that waits', () => {
  it.each<[what: string, options: WaitOptions]>([
    ['for a slot of the limiter', { limiter: createLimiter({ clock: createSystemClock(), maxInFlight: 1 }) }],
    ['for a free connection', { maxConnections: 1 }],
    ['for the handshakes of a new connection', { slowHandshake: true }],
  ])('S28 is asked again after the wait %s', async (_, { limiter, maxConnections, slowHandshake }) => {
    const api = await startTlsServer();
    const answering = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const methods: (string | undefined)[] = [];
    api.answer(async ({ method }, response) => {
      methods.push(method);
      arrived.resolve();
      await answering.promise;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(MAP));
    });
    const gate = await delayedServer(api);
    if (!slowHandshake) gate.open();
    let held = true;
    const options = maxConnections === undefined ? {} : { maxConnections };
    const transport = createFencedTransport(open(gate.url, {}, options), () => {
      if (!held) throw new LeaseLost('system/cluster-a', 'expired');
    });
    const client = createRestClient(transport, {
      server: gate.url,
      clock: createSystemClock(),
      ...(limiter ? { limiter } : {}),
    });
    const read = slowHandshake ? undefined : client.get(CONFIG_MAPS, { name: 'a', namespace: 'b' });
    const write = client.create(CONFIG_MAPS, MAP).catch((error: unknown) => error);
    await (slowHandshake ? gate.connected : arrived.promise);
    held = false;
    gate.open();
    answering.resolve();
    await read;
    expect(await write).toMatchObject({
      code: 'Aborted',
      message: expect.stringContaining('it was not renewed in time') as string,
    });
    expect(methods).toEqual(slowHandshake ? [] : ['GET']);
  });

  it('S28 is asked on each try: one that was allowed does not allow the next', async () => {
    const api = await startTlsServer();
    let held = true;
    const methods: (string | undefined)[] = [];
    api.answer(({ method }, response) => {
      methods.push(method);
      response.writeHead(503, { 'content-type': 'application/json' }).end('{}');
    });
    const transport = createFencedTransport(open(api.url), () => {
      if (!held) throw new LeaseLost('system/cluster-a', 'taken');
    });
    const client = createRestClient(transport, { server: api.url, clock: createSystemClock() });
    const write = (): Promise<unknown> => client.create(CONFIG_MAPS, MAP).catch((error: unknown) => error);
    expect(await write()).toMatchObject({ code: 'ServerError' });
    held = false;
    expect(await write()).toMatchObject({ code: 'Aborted' });
    expect(methods).toEqual(['POST']);
  });
});

interface WaitOptions {
  readonly limiter?: Limiter;
  readonly maxConnections?: number;
  readonly slowHandshake?: boolean;
}

const open = opener(createHttpsTransport);

/** Accepts connections at once, and forwards nothing until it is opened. */
async function delayedServer({ port }: TlsServer): Promise<{
  readonly url: string;
  readonly connected: Promise<unknown>;
  readonly open: () => void;
}> {
  const opened = Promise.withResolvers<void>();
  const forward = async (socket: Socket): Promise<void> => {
    socket.on('error', () => {});
    await opened.promise;
    const to = connect(port, '127.0.0.1');
    to.on('error', () => {});
    socket.pipe(to).pipe(socket);
  };
  const proxy = createTcpServer((socket) => void forward(socket));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port: own } = proxy.address() as AddressInfo;
  return { url: `https://127.0.0.1:${own}`, connected: once(proxy, 'connection'), open: opened.resolve };
}
