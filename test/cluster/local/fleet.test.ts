import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createLayout } from '../../../src/local/layout.ts';
import { listExternalAddresses, localUrl } from '../../../src/local/processes/addresses.ts';
import { LOOPBACK } from '../../../src/local/processes/commands.ts';
import { listPorts } from '../../../src/local/processes/desired-state.ts';
import { readState, writeState } from '../../../src/local/state.ts';
import { findFreePort, isPortFree } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { localFleet } from '../../support/local-fleet.ts';
import { slice } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';

const clock = createSystemClock();
const LIGHT = ['--no-controllers', '--no-install'];

// Each test starts servers, which takes long on a busy machine.

/** Every test starts with one light cluster and can leave it in any state: `up` restores it for the next test. */
describe('kubenode local', () => {
  const fleet = localFleet(tempFolder('local'));
  const ownPorts = new Set<number>();
  afterAll(() => fleet.clear());

  beforeEach(async () => {
    await keepOwnPorts();
    await fleet.ok('up', ...LIGHT);
  });

  /**
   * Other files start fleets on the first ports that are free, which are those of processes that a test has just ended. So this one
   * begins each test on ports of its own.
   */
  async function keepOwnPorts(): Promise<void> {
    const { stateFile } = createLayout(fleet.dir);
    const state = await readState(stateFile).catch(() => undefined);
    if (state && listPorts(state).some((port) => ownPorts.has(port))) return;
    await fleet.ok('down', '--wipe');
    const [etcdPort, port, controllerManagerPort, schedulerPort] = await fourFreePorts();
    for (const own of [etcdPort, port]) ownPorts.add(own);
    const ports = { port, controllerManagerPort, schedulerPort };
    const hubState = { name: 'hub', ...ports, bindAddress: LOOPBACK, names: [], controllers: false };
    await mkdir(fleet.dir, { recursive: true, mode: 0o700 });
    await writeState(stateFile, { version: 1, etcdPort, clusters: [hubState] });
  }

  it('adds a cluster without restarting running processes', async () => {
    const before = await pids();
    const { stderr } = await fleet.ok('up', '--clusters', '2', ...LIGHT);
    const after = await pids();
    expect(after).toEqual(expect.arrayContaining(before));
    const { clusters, kubeconfig } = await fleet.status();
    expect(clusters.map(({ name, state }) => `${name} ${state}`)).toEqual(['hub Ready', 'test Ready']);
    expect(after).toHaveLength(3);
    expect(stderr).toContain(`export KUBECONFIG=${kubeconfig}\n`);
    for (const { name, server } of clusters) {
      const client = await open(kubeconfig, name);
      expect(client.server).toBe(server);
      await client.raw('/readyz');
    }
  });

  it.each(['etcd', 'kube-apiserver'])(
    'restarts %s after a kill with all data, without restarting the other process',
    async (program) => {
      const name = `before-${program}`;
      await (await hub()).create(CONFIG_MAPS, configMap(name));
      const before = await byProgram();
      process.kill(before.get(program) ?? 0, 'SIGKILL');
      await waitUntilStopped(program);
      const status = await fleet.run(['status']);
      expect(status.code).toBe(1);
      expect(status.stdout).toContain(`${program} is not running`);

      await fleet.ok('up', ...LIGHT);
      const after = await byProgram();
      expect(after.get(program)).not.toBe(before.get(program));
      const other = program === 'etcd' ? 'kube-apiserver' : 'etcd';
      expect(after.get(other)).toBe(before.get(other));
      await (await hub()).get(CONFIG_MAPS, { name, namespace: 'default' });
    },
  );

  it('replaces a process that is running but not ready', async () => {
    const frozen = (await byProgram()).get('kube-apiserver') ?? 0;
    process.kill(frozen, 'SIGSTOP');
    expect((await fleet.status()).clusters[0]?.state).toBe('NotReady');
    await fleet.ok('up', '--timeout', '30', ...LIGHT);
    expect((await byProgram()).get('kube-apiserver')).not.toBe(frozen);
  });

  it('renews certificates of running processes, which reload them', async () => {
    const before = await pids();
    const { etcd, clusters } = await fleet.status();
    const served = [
      { port: etcd.port, folder: join(fleet.dir, 'etcd-pki'), file: 'etcd.pem', client: 'client.pem' },
      {
        port: Number(new URL(clusters[0]?.server ?? '').port),
        folder: join(fleet.dir, 'clusters/hub/pki'),
        file: 'apiserver.pem',
        client: 'admin.pem',
      },
    ];
    // Missing and expired certificates are renewed the same way; unit tests cover both.
    const deleted = served.flatMap(({ folder, file, client }) => [join(folder, file), join(folder, client)]);
    for (const path of deleted) rmSync(path);
    await fleet.ok('up', ...LIGHT);
    expect(await pids()).toEqual(before);
    for (const { port, folder, file, client } of served) {
      const renewed = new X509Certificate(readFileSync(join(folder, file)));
      while ((await servedSerial(port, folder, client)) !== renewed.serialNumber) await clock.sleep(100);
    }
    await (await hub()).create(CONFIG_MAPS, configMap('after-renewal'));
  });

  it.each(slice(['starting etcd', 'starting hub/kube-apiserver'], 1))(
    'completes the start of a command that was killed at "%s"',
    async (moment) => {
      await fleet.ok('down', '--wipe');
      expect(await fleet.killAt(moment, ['up', ...LIGHT])).toBe('SIGKILL');
      await fleet.ok('up', ...LIGHT);
      expect([...(await byProgram()).keys()].toSorted()).toEqual(['etcd', 'kube-apiserver']);
      expect(await pids()).toHaveLength(2);
    },
  );

  it('deletes everything of a command that was killed', async () => {
    await fleet.ok('down', '--wipe');
    await fleet.killAt('starting hub/kube-apiserver', ['up', ...LIGHT]);
    await fleet.ok('down', '--wipe');
    expect(await pids()).toEqual([]);
    expect(existsSync(fleet.dir)).toBe(false);
  });

  it('starts the processes once for two concurrent commands', async () => {
    await fleet.ok('down', '--wipe');
    const [first, second] = await Promise.all([fleet.run(['up', ...LIGHT]), fleet.run(['up', ...LIGHT])]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(await pids()).toHaveLength(2);
    expect(first.stderr + second.stderr).toMatch(
      /waiting for another kubenode process that uses this fleet \(pid \d+\)/,
    );
  });

  it('keeps the data over down and up, and frees the ports in between', async () => {
    await (await hub()).create(CONFIG_MAPS, configMap('over-down'));
    const port = await hubPort();
    await fleet.ok('down');
    expect(await pids()).toEqual([]);
    expect(await isPortFree(port)).toBe(true);
    await fleet.ok('up', ...LIGHT);
    expect(await hubPort()).toBe(port);
    await (await hub()).get(CONFIG_MAPS, { name: 'over-down', namespace: 'default' });
  });

  it('moves to another port with a warning if its own port is in use', async () => {
    const port = await hubPort();
    await fleet.ok('down');
    await listen(port);
    const { stderr } = await fleet.ok('up', ...LIGHT);
    expect(stderr).toContain(`port ${port} is in use by another program: using `);
    expect(await hubPort()).not.toBe(port);
    await (await hub()).raw('/readyz');
  });

  it('refuses a requested port that is in use, and starts nothing', async () => {
    await fleet.ok('down', '--wipe');
    const port = await listen(0);
    const { code, stderr } = await fleet.run(['up', '--port', String(port), ...LIGHT]);
    expect(code).toBe(69);
    expect(stderr).toContain(`port ${port} for cluster hub is in use by another program`);
    expect(await pids()).toEqual([]);
    expect(readdirSync(fleet.dir)).toEqual([]);
  });

  it.runIf(listExternalAddresses().length > 0)(
    'allows other machines on request, at all of its addresses',
    async () => {
      await fleet.ok('up', '--bind-address', '0.0.0.0', ...LIGHT);
      const [address = ''] = listExternalAddresses();
      const { kubeconfig, clusters } = await fleet.status();
      const text = readFileSync(kubeconfig, 'utf8').replaceAll(
        'https://127.0.0.1:',
        `https://${ownHost(address)}:`,
      );
      const path = join(tempFolder('outside'), 'kubeconfig');
      writeFileSync(path, text, { mode: 0o600 });
      await (await open(path)).raw('/readyz');
      expect(clusters[0]?.state).toBe('Ready');
      await fleet.ok('up', '--bind-address', '127.0.0.1', ...LIGHT);
      await expect((await open(path)).raw('/readyz')).rejects.toMatchObject({ code: 'Unreachable' });
    },
  );

  it('refuses a broken state file, but can delete the fleet', async () => {
    writeFileSync(join(fleet.dir, 'state.json'), '{"version": 1');
    for (const command of [['status'], ['up', ...LIGHT], ['kubeconfig', 'hub']]) {
      const { code, stderr } = await fleet.run(command);
      expect(code).toBe(65);
      expect(stderr).toMatch(/state\.json is not a valid state file.*hint: .*down --wipe/s);
    }
    await fleet.ok('down', '--wipe');
    expect(await pids()).toEqual([]);
  });

  it('creates a kubeconfig for any principal with its groups', async () => {
    for (const [principal, user, group] of [
      ['kubenode-sync', 'system:serviceaccount:kubenode-system:kubenode-sync', 'system:serviceaccounts'],
      ['kubenode:agent:m-1', 'kubenode:agent:m-1', 'kubenode:agents'],
      ['jane', 'jane', 'team-a'],
    ] as const) {
      const more = principal === 'jane' ? ['--group', 'team-a'] : [];
      const { stdout } = await fleet.ok('kubeconfig', 'hub', '--user', principal, ...more);
      const path = join(tempFolder('kubeconfig'), 'config');
      writeFileSync(path, stdout, { mode: 0o600 });
      expect(await readUser(await open(path))).toEqual({
        user,
        groups: expect.arrayContaining([group]) as unknown,
      });
    }
  });

  it('installs kubenode into each cluster, and the kubeconfigs of sync into the hub', async () => {
    await fleet.ok('up', '--clusters', '2', '--controllers');
    const { clusters, kubeconfig } = await fleet.status();
    expect(clusters.map(({ processes }) => processes.map(({ state }) => state))).toEqual([
      ['Ready', 'Ready', 'Ready'],
      ['Ready', 'Ready', 'Ready'],
    ]);
    for (const { name } of clusters) {
      const served = (await (await open(kubeconfig, name)).resources()).filter(
        ({ group }) => group === 'kubenode.dev',
      );
      expect(served.map(({ kind }) => kind).toSorted()).toEqual(KINDS.map(({ kind }) => kind).toSorted());

      const secret = await (await hub()).get(SECRETS, {
        name: `${name}-kubeconfig`,
        namespace: 'kubenode-system',
      });
      const path = join(tempFolder('sync'), 'kubeconfig');
      const { kubeconfig: encoded = '' } = secret['data'] as Record<string, string>;
      writeFileSync(path, Buffer.from(encoded, 'base64'), { mode: 0o600 });
      const sync = await open(path);
      expect((await readUser(sync)).user).toBe('system:serviceaccount:kubenode-system:kubenode-sync');
      await expect(sync.raw('/api/v1/namespaces/kube-system/secrets')).rejects.toMatchObject({
        code: 'Forbidden',
      });
    }
  });

  async function hub(): Promise<Client> {
    return await open((await fleet.status()).kubeconfig, 'hub');
  }

  async function hubPort(): Promise<number> {
    return Number(new URL((await fleet.status()).clusters[0]?.server ?? '').port);
  }

  async function pids(): Promise<number[]> {
    return (await fleet.processes()).map(({ pid }) => pid).toSorted((a, b) => a - b);
  }

  /** The processes of etcd and the hub only: other tests can have added clusters. */
  async function byProgram(): Promise<Map<string, number>> {
    const processes = (await fleet.processes()).map(({ pid, command: [program = '', ...args] }) => {
      return {
        pid,
        program: basename(program),
        ofTest: args.some((text) => text.includes('/clusters/test/')),
      };
    });
    return new Map(processes.filter(({ ofTest }) => !ofTest).map(({ program, pid }) => [program, pid]));
  }

  async function waitUntilStopped(program: string): Promise<void> {
    while ((await byProgram()).has(program)) await clock.sleep(10);
  }
});

async function fourFreePorts(): Promise<[number, number, number, number]> {
  const ports = new Set<number>();
  while (ports.size < 4) ports.add(await findFreePort());
  return [...ports] as [number, number, number, number];
}

async function open(kubeconfig: string, context?: string): Promise<Client> {
  const client = await connect({ kubeconfig, ...(context ? { context } : {}) });
  onTestFinished(() => client.close());
  return client;
}

async function readUser(client: Client): Promise<{ user: string; groups: string[] }> {
  const review = await client.create(
    {
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      namespaced: false,
    },
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: {},
    } as unknown as KubeObject,
  );
  const { userInfo } = review['status'] as { userInfo: { username: string; groups: string[] } };
  return { user: userInfo.username, groups: userInfo.groups };
}

function ownHost(address: string): string {
  return new URL(localUrl(address, 1)).hostname;
}

function configMap(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { a: 'b' } };
}

async function servedSerial(port: number, folder: string, client: string): Promise<string> {
  const pem = readFileSync(join(folder, client));
  const ca = readFileSync(join(folder, 'ca.crt'));
  const socket = tls.connect({ host: '127.0.0.1', port, ca, cert: pem, key: pem });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()?.serialNumber ?? '';
  } finally {
    socket.destroy();
  }
}

/** A server of another program, for the duration of the test. */
async function listen(port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
