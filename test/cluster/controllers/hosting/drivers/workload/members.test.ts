/** The commands of three members of etcd in their pods, with the real etcd: how they join, and how one whose volume was emptied is replaced. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EtcdMember } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { readKeyState } from '../../../../../../src/controllers/hosting/drivers/etcd/json-gateway.ts';
import {
  ASKING,
  type EtcdPlaces,
  listedMembers,
} from '../../../../../../src/controllers/hosting/drivers/etcd/membership.ts';
import {
  etcdPeerUrlAt,
  memberCommand,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../../../src/local/processes/probe.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { HOSTED } from '../../../../../support/hosting/objects.ts';
import {
  isHealthy,
  type PodFolders,
  podFolders,
  type StartedEtcd,
  startPodEtcdAt,
} from '../../../../../support/hosting/pod-etcd.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const READY = { interval: 100 };
const MEMBERS = ['etcd', 'etcd-1', 'etcd-2'] as const;
const NET = `127.${(process.pid % 200) + 20}.9`;
const ADDRESSES = MEMBERS.map((_, index) => `${NET}.${index + 2}`);
const clock = createSystemClock();

interface Etcds {
  readonly folders: PodFolders;
  readonly places: EtcdPlaces;
  readonly running: Map<EtcdMember, StartedEtcd>;
}

async function openEtcds(): Promise<Etcds> {
  const folders = await podFolders(ADDRESSES);
  const text = (name: string): string => readFileSync(join(folders.client, name), 'utf8');
  const client = parsePair(text('client.pem'));
  if (!client) throw new Error('there is no certificate');
  const endpoints = ADDRESSES.map((address) => ({
    url: `https://${address}:2379`,
    caPem: text('ca.crt'),
    client,
  }));
  return { folders, places: { endpoints, peerUrls: ADDRESSES.map(etcdPeerUrlAt) }, running: new Map() };
}

function volumeOf({ folders }: Etcds, member: EtcdMember): string {
  return join(folders.volume, member);
}

/** Starts what the pod of the member runs. */
function start(
  etcds: Etcds,
  member: EtcdMember,
  { isSealed = true, initialCluster }: { readonly isSealed?: boolean; readonly initialCluster?: string } = {},
): StartedEtcd {
  const record = planeRecord({ etcd: { ...HOSTED.etcd, replicas: 3 } });
  const members = initialCluster === undefined ? {} : { [member]: { initialCluster } };
  const plane = { ...record, isSealed, members };
  const addresses = { etcd: ADDRESSES, apiServer: '10.0.0.3' };
  const { args } = memberCommand(member, { plane, addresses, version: 'v3.6.8' });
  const address = ADDRESSES[MEMBERS.findIndex((each) => each === member)] ?? '';
  const volume = volumeOf(etcds, member);
  mkdirSync(volume, { recursive: true, mode: 0o700 });
  const started = startPodEtcdAt(etcds.folders, args, { address, volume });
  etcds.running.set(member, started);
  return started;
}

async function startHealthy(...args: Parameters<typeof start>): Promise<void> {
  const started = start(...args);
  await expect.poll(() => isHealthy(started), READY).toBe(true);
}

/** As the driver does it: added as a learner, started so that it joins, started again as one that never joins, and promoted. */
async function joinOthers(etcds: Etcds, member: EtcdMember): Promise<void> {
  const { places, running } = etcds;
  // Etcd accepts another member when the others have been connected for some seconds.
  const isAdded = async (): Promise<boolean> =>
    ASKING.addMember(places, member).then(
      () => true,
      () => false,
    );
  await expect.poll(isAdded, READY).toBe(true);
  const initialCluster = await ASKING.joiningCluster(places, member);
  await startHealthy(etcds, member, { initialCluster });
  await running.get(member)?.stop();
  await startHealthy(etcds, member);
  await ASKING.promoteMember(places, member, clock);
}

async function put(endpoint: ProbeEndpoint | undefined, key: string): Promise<void> {
  if (!endpoint) throw new Error('there is no endpoint');
  const body = JSON.stringify({ key: Buffer.from(key).toString('base64'), value: 'eA==' });
  const answer = await sendProbe({ ...endpoint, url: `${endpoint.url}/v3/kv/put` }, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

async function listed({ places }: Etcds): Promise<readonly string[]> {
  const membership = await ASKING.readMembership(places);
  const found = membership ? listedMembers(places, membership) : [];
  return found.map(({ member, isLearner }) => `${member}${isLearner ? ' learns' : ''}`).toSorted();
}

it('HOS-33 joins three members by the commands of their pods, and replaces one whose volume was emptied', async () => {
  const etcds = await openEtcds();
  const { places, running } = etcds;
  await startHealthy(etcds, 'etcd', { isSealed: false });
  await running.get('etcd')?.stop();
  await startHealthy(etcds, 'etcd');
  await put(places.endpoints[0], 'first');
  await joinOthers(etcds, 'etcd-1');
  await joinOthers(etcds, 'etcd-2');
  expect(await listed(etcds)).toEqual([...MEMBERS]);

  // The first one is lost: others have its data.
  await running.get('etcd')?.stop();
  rmSync(volumeOf(etcds, 'etcd'), { recursive: true });
  await put(places.endpoints[1], 'while one is away');
  const wiped = start(etcds, 'etcd');
  expect(await wiped.ended).toContain('cannot fetch cluster info from peer urls');
  await put(places.endpoints[2], 'while it ends');
  await ASKING.removeMember(places, 'etcd');
  expect(await listed(etcds)).toEqual(['etcd-1', 'etcd-2']);
  await joinOthers(etcds, 'etcd');
  expect(await listed(etcds)).toEqual([...MEMBERS]);
  const [first] = places.endpoints;
  expect(first && (await readKeyState(first))).toMatchObject({ keys: 3 });
});
