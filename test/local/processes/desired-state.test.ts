import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listPorts, planFleetState, replacePort } from '../../../src/local/processes/desired-state.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';

describe('planFleetState', () => {
  it('creates one cluster by default', async () => {
    const state = await planFleetState(undefined, {});
    expect(state.clusters.map(({ name }) => name)).toEqual(['hub']);
    expect(state.clusters[0]).toMatchObject({ bindAddress: '127.0.0.1', names: [], controllers: true });
  });

  it('allocates a different port for each process', async () => {
    const ports = listPorts(await planFleetState(undefined, { clusters: 4 }));
    expect(ports).toHaveLength(13);
    expect(new Set(ports).size).toBe(13);
  });

  it('keeps existing clusters and their ports when it adds clusters', async () => {
    const before = await planFleetState(undefined, { clusters: 2 });
    const after = await planFleetState(before, { clusters: 3 });
    expect(after.clusters.slice(0, 2)).toEqual(before.clusters);
    expect(after.etcdPort).toBe(before.etcdPort);
    expect(after.clusters.map(({ name }) => name)).toEqual(['hub', 'test', 'pre']);
  });

  it.each([[1], [undefined]])('removes no cluster for a request of %s', async (clusters) => {
    const before = await planFleetState(undefined, { clusters: 2 });
    expect(await planFleetState(before, { clusters })).toEqual(before);
  });

  it('changes only the requested settings, in all clusters', async () => {
    const before = await planFleetState(undefined, { clusters: 2, controllers: false });
    const after = await planFleetState(before, { bindAddress: '0.0.0.0', names: ['host.example.com'] });
    expect(
      after.clusters.map(({ bindAddress, names, controllers }) => [bindAddress, names, controllers]),
    ).toEqual([
      ['0.0.0.0', ['host.example.com'], false],
      ['0.0.0.0', ['host.example.com'], false],
    ]);
  });

  it('uses the requested ports, or reports the one that is in use', async () => {
    const port = await findFreePort();
    expect((await planFleetState(undefined, { firstPort: port })).clusters[0]?.port).toBe(port);
    await listen(port);
    await expect(planFleetState(undefined, { firstPort: port })).rejects.toMatchObject({
      code: 'PortInUse',
      message: `port ${port} for cluster hub is in use by another program`,
    });
  });
});

describe('replacePort', () => {
  it('replaces only that port, everywhere', async () => {
    const before = await planFleetState(undefined, { clusters: 2 });
    for (const port of listPorts(before)) {
      const after = replacePort(before, port, 1);
      expect(listPorts(after)).toEqual(listPorts(before).map((old) => (old === port ? 1 : old)));
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
