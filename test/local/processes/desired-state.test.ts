import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { clusterNames } from '../../../src/local/names.ts';
import { growState, portsOf, replacePort } from '../../../src/local/processes/desired-state.ts';
import { findFreePort, findNextPort, isPortFree } from '../../../src/os/ports.ts';

describe('clusterNames', () => {
  it('begins with the hub and goes on counting prod', () => {
    expect(clusterNames(7)).toEqual(['hub', 'test', 'pre', 'prod', 'prod-2', 'prod-3', 'prod-4']);
  });
});

describe('growState', () => {
  it('begins with one cluster', async () => {
    const state = await growState(undefined, {});
    expect(state.clusters.map(({ name }) => name)).toEqual(['hub']);
    expect(state.clusters[0]).toMatchObject({ bindAddress: '127.0.0.1', names: [], controllers: true });
  });

  it('gives each process a port of its own', async () => {
    const ports = portsOf(await growState(undefined, { clusters: 4 }));
    expect(ports).toHaveLength(13);
    expect(new Set(ports).size).toBe(13);
  });

  it('keeps what is there, ports and all, when more is wanted', async () => {
    const before = await growState(undefined, { clusters: 2 });
    const after = await growState(before, { clusters: 3 });
    expect(after.clusters.slice(0, 2)).toEqual(before.clusters);
    expect(after.etcdPort).toBe(before.etcdPort);
    expect(after.clusters.map(({ name }) => name)).toEqual(['hub', 'test', 'pre']);
  });

  it.each([[1], [undefined]])('takes no cluster away, asked for %s', async (clusters) => {
    const before = await growState(undefined, { clusters: 2 });
    expect(await growState(before, { clusters })).toEqual(before);
  });

  it('changes settings of all clusters, and only those that were asked for', async () => {
    const before = await growState(undefined, { clusters: 2, controllers: false });
    const after = await growState(before, { bindAddress: '0.0.0.0', names: ['host.example.com'] });
    expect(
      after.clusters.map(({ bindAddress, names, controllers }) => [bindAddress, names, controllers]),
    ).toEqual([
      ['0.0.0.0', ['host.example.com'], false],
      ['0.0.0.0', ['host.example.com'], false],
    ]);
  });

  it('gives the ports that were asked for, or says which one is in use', async () => {
    const port = await findFreePort();
    expect((await growState(undefined, { firstPort: port })).clusters[0]?.port).toBe(port);
    await listen(port);
    await expect(growState(undefined, { firstPort: port })).rejects.toMatchObject({
      code: 'PortInUse',
      message: `port ${port}, wanted for cluster hub, is in use`,
    });
  });
});

describe('findNextPort', () => {
  it('passes over ports that are given or in use', async () => {
    const port = await findFreePort('127.0.0.1');
    const start = Math.min(port, 32_000);
    const first = await findNextPort(new Set(), '127.0.0.1', start);
    await listen(first);
    const second = await findNextPort(new Set(), '127.0.0.1', start);
    const third = await findNextPort(new Set([second]), '127.0.0.1', start);
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await isPortFree(first)).toBe(false);
  });
});

describe('replacePort', () => {
  it('changes that port wherever it stands, and nothing else', async () => {
    const before = await growState(undefined, { clusters: 2 });
    for (const port of portsOf(before)) {
      const after = replacePort(before, port, 1);
      expect(portsOf(after)).toEqual(portsOf(before).map((old) => (old === port ? 1 : old)));
    }
  });
});

const servers: Server[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}
