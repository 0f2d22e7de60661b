import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Credentials } from '../../../src/kube/auth/credentials.ts';
import { createRestClient } from '../../../src/kube/client/rest-client.ts';
import { createFencedTransport } from '../../../src/kube/leader/fence.ts';
import { LeaseLost } from '../../../src/kube/leader/term.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createHttpsTransport } from '../../../src/kube/transport/https.ts';
import type { Transport } from '../../../src/kube/transport/transport.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

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
