/** A control plane of real processes that clients reach beyond loopback: what listens where, what its certificate and kubeconfigs name, and its removal. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionOf } from '../../../../src/kube/objects/conditions.ts';
import { ENDPOINT_SLICES, NODES } from '../../../../src/kube/objects/core-kinds.ts';
import { listAt, valueAt } from '../../../../src/kube/objects/json.ts';
import { listExternalAddresses } from '../../../../src/local/processes/addresses.ts';
import { listProcesses } from '../../../../src/local/processes/observe.ts';
import { listenOn } from '../../../../src/os/net/http-server.ts';
import { ALL_ADDRESSES, findFreePort } from '../../../../src/os/net/ports.ts';
import { type ReachedPlane, startReachedPlane } from '../../../nodes/hosting/reached-plane.ts';
import { eventually } from '../../../support/eventually.ts';
import { isOnLoopback, listeningSockets } from '../../../support/listening-sockets.ts';

const NAME = 'reached';
const HOST = 'plane.kubenode.test';
/** The first address of this machine for others, which is of IPv4. */
const [ADDRESS = ''] = listExternalAddresses();
const CHANGED = { timeout: 600_000, interval: 250 };
const LIMIT = 900_000;

let plane: ReachedPlane;
let port: number;

beforeAll(async () => {
  port = await findFreePort();
  plane = await startReachedPlane(NAME);
  await eventually(isReady, 'the control plane is not ready');
}, LIMIT);
afterAll(() => plane?.stop());

async function condition(type: string): Promise<string | undefined> {
  return conditionOf((await plane.cluster()).status?.conditions, type)?.status;
}

async function isReady(): Promise<true | undefined> {
  return (await condition('ControlPlaneReady')) === 'True' || undefined;
}

interface Member {
  readonly pid: number;
  /** `kube-apiserver`, `gateway`, or `controllers`. */
  readonly name: string;
}

/** The processes of the control plane, by an argument with a file in its folder. */
async function membersOfPlane(): Promise<readonly Member[]> {
  const all = await listProcesses();
  return all
    .filter(({ command }) => command.some((arg) => arg.includes(`=${plane.root}/`)))
    .map(({ pid, command }) => ({ pid, name: nameOf(command) }));
}

function nameOf(command: readonly string[]): string {
  if (command.includes('--all-addresses')) return 'gateway';
  return command.includes('controllers') ? 'controllers' : (command[0]?.split('/').at(-1) ?? '');
}

/** `gateway 6443` for each socket that clients of other machines could reach. */
async function reachable(): Promise<readonly string[]> {
  const members = await membersOfPlane();
  const open = listeningSockets(members.map(({ pid }) => pid)).filter((socket) => !isOnLoopback(socket));
  return open.map((socket) => `${members.find(({ pid }) => pid === socket.pid)?.name} ${socket.port}`);
}

async function pidsOf(name: string): Promise<readonly number[]> {
  return (await membersOfPlane()).filter((member) => member.name === name).map(({ pid }) => pid);
}

/** The members that no change of the exposure starts again. */
async function kept(): Promise<readonly string[]> {
  const members = await membersOfPlane();
  return members
    .filter(({ name }) => name.startsWith('kube-') || name === 'etcd')
    .map(({ name, pid }) => `${name} ${pid}`)
    .toSorted();
}

/** Resolves to the status with which the API server answers a client there that verifies its name. */
function askVersion(address: string, serverName?: string): Promise<number | undefined> {
  const ca = readFileSync(plane.caFile.replace(/pem$/, 'crt'), 'utf8');
  const name = serverName === undefined ? {} : { servername: serverName };
  return new Promise((resolve, reject) => {
    request({ host: address, port, path: '/version', ca, ...name, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

/** The endpoints of the Service `kubernetes` inside the cluster: `192.0.2.10:6443`. */
async function endpoints(): Promise<readonly string[]> {
  const labelSelector = 'kubernetes.io/service-name=kubernetes';
  const { items } = await plane.asAdmin((client) =>
    client.list(ENDPOINT_SLICES, { namespace: 'default', labelSelector }),
  );
  return items.flatMap((slice) =>
    listAt(slice, 'endpoints').flatMap((each) =>
      listAt(each, 'addresses').map(
        (address) => `${String(address)}:${String(valueAt(slice, 'ports', 0, 'port'))}`,
      ),
    ),
  );
}

async function syncServer(): Promise<string | undefined> {
  return await plane.asSync(async (client) => client.server);
}

async function isUpToDate(): Promise<boolean> {
  const { metadata, status } = await plane.cluster();
  const isObserved = status?.hosted?.observedGeneration === metadata.generation;
  return isObserved && (await condition('ControlPlaneUpToDate')) === 'True';
}

async function expose(exposure: object): Promise<void> {
  await plane.patch({ hosted: { exposure } });
  await expect.poll(isUpToDate, CHANGED).toBe(true);
}

// Each test begins where the one before it ended.
describe('a control plane that clients reach beyond loopback', { shuffle: false }, () => {
  let before: readonly string[];

  it('HOS-41 listens on loopback only without a host', async () => {
    before = await kept();
    expect(before).toHaveLength(4);
    expect(await reachable()).toEqual([]);
    expect(await syncServer()).toMatch(/^https:\/\/127\.0\.0\.1:/);
  });

  it(
    'HOS-52 is reached at an address of the machine with the kubeconfig of sync, and nothing else of it is',
    async () => {
      await expose({ host: ADDRESS, port });
      const server = `https://${ADDRESS}:${port}`;
      await expect.poll(syncServer, CHANGED).toBe(server);
      await expect.poll(reachable, CHANGED).toEqual([`gateway ${port}`, `gateway ${port}`]);
      expect((await plane.asSync((client) => client.list(NODES))).items).toEqual([]);
      expect(await kept()).toEqual(before);
      const controllers = (await listProcesses()).find(
        ({ command }) => command.includes('controllers') && command.some((arg) => arg.includes(plane.root)),
      );
      expect(controllers?.command).toContain(`--server-for-hosts=${server}`);
      await expect.poll(endpoints, CHANGED).toEqual([`${ADDRESS}:${port}`]);
    },
    LIMIT,
  );

  it(
    'HOS-41 keeps its address and its gateways while the port of the spec is that of another program',
    async () => {
      const gateways = await pidsOf('gateway');
      const server = createServer();
      const taken = await listenOn(server, 'a test', { host: ALL_ADDRESSES, port: 0 });
      await plane.patch({ hosted: { exposure: { port: taken } } });
      const stalled = async (): Promise<string | undefined> =>
        conditionOf((await plane.cluster()).status?.conditions, 'ControlPlaneStalled')?.reason;
      await expect.poll(stalled, CHANGED).toBe('PortInUse');
      expect([await pidsOf('gateway'), await askVersion(ADDRESS)]).toEqual([gateways, 200]);
      expect(await condition('ControlPlaneReady')).toBe('True');
      // Free before that, hosting would take it.
      await expose({ port });
      server.close();
      expect([await pidsOf('gateway'), await kept()]).toEqual([gateways, before]);
    },
    LIMIT,
  );

  it(
    'HOS-41 gets a name, by which clients of every address verify its certificate',
    async () => {
      await expose({ host: HOST });
      for (const address of ['127.0.0.2', ...listExternalAddresses(), ...loopbackOfIPv6()]) {
        expect([address, await askVersion(address, HOST)]).toEqual([address, 200]);
      }
      await expect(askVersion(ADDRESS, 'other.kubenode.test')).rejects.toMatchObject({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      });
      expect(await kept()).toEqual(before);
      // A Service has no names as its endpoints.
      await expect.poll(endpoints, CHANGED).toEqual([]);
    },
    LIMIT,
  );

  it(
    'HOS-13 is reached while one of its gateways ends, which is started again',
    async () => {
      const gateways = (await membersOfPlane()).filter(({ name }) => name === 'gateway');
      process.kill(gateways[0]?.pid ?? 0, 'SIGKILL');
      // A process that ends has no command any more before its sockets are closed, and resets connections in between.
      const hasEnded = (): boolean => !existsSync(`/proc/${gateways[0]?.pid}`);
      await expect.poll(hasEnded, CHANGED).toBe(true);
      for (let n = 0; n < 20; n += 1) expect(await askVersion(ADDRESS, HOST)).toBe(200);
      await expect.poll(reachable, CHANGED).toHaveLength(2);
    },
    LIMIT,
  );

  it(
    'HOS-13 keeps its gateways when it gets a second API server',
    async () => {
      const gateways = await pidsOf('gateway');
      await plane.patch({ hosted: { replicas: 2 } });
      await expect.poll(isUpToDate, CHANGED).toBe(true);
      await expect.poll(() => condition('ControlPlaneReady'), CHANGED).toBe('True');
      await expect.poll(() => askVersion(ADDRESS, HOST).catch(() => 0), CHANGED).toBe(200);
      expect([await pidsOf('gateway'), await pidsOf('kube-apiserver')]).toEqual([
        gateways,
        [expect.any(Number), expect.any(Number)],
      ]);
      expect(await reachable()).toEqual([`gateway ${port}`, `gateway ${port}`]);
      before = await kept();
    },
    LIMIT,
  );

  it(
    'HOS-41 is reached on loopback only again when the host is removed',
    async () => {
      await expose({ host: null, port: null });
      await expect.poll(reachable, CHANGED).toEqual([]);
      expect(await endpoints()).toEqual([]);
      await expect(askVersion(ADDRESS, HOST)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      await expect.poll(syncServer, CHANGED).toMatch(/^https:\/\/127\.0\.0\.1:/);
      expect((await plane.asSync((client) => client.list(NODES))).items).toEqual([]);
      expect(await kept()).toEqual(before);
      await expect.poll(() => condition('ControlPlaneReady'), CHANGED).toBe('True');
    },
    LIMIT,
  );
});

function loopbackOfIPv6(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.some(({ address }) => address === '::1') ? ['::1'] : [];
}
