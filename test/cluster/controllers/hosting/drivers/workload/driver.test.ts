/** The driver of pods on a real API server as hub, with the installed rights of hosting: what every driver fulfills, and what only a hub has. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  API_SERVERS,
  isApiServer,
  MEMBERS,
  type MemberReport,
  type PlaneDriver,
  type PlaneReport,
} from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { ASKING } from '../../../../../../src/controllers/hosting/drivers/etcd/membership.ts';
import { createWorkloadDriver } from '../../../../../../src/controllers/hosting/drivers/workload/driver.ts';
import {
  ANNOTATION_OWNER_UID,
  ANNOTATION_TAKEN_AT,
  planeNamespace,
  SNAPSHOT,
} from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import {
  DISRUPTION_BUDGETS,
  VOLUME_CLAIMS,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { SERVICES } from '../../../../../../src/controllers/hosting/drivers/workload/objects/network.ts';
import { DEPLOYMENTS } from '../../../../../../src/controllers/hosting/drivers/workload/objects/workloads.ts';
import { JOBS } from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import type { Client } from '../../../../../../src/kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../../../src/kube/client/errors.ts';
import { NAMESPACES, PODS as POD_KIND, SECRETS } from '../../../../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { PODS } from '../../../../../support/hosting/contract/faults.ts';
import { takeSnapshot } from '../../../../../support/hosting/contract/take-snapshot.ts';
import { describePlaneDriver } from '../../../../../support/hosting/driver-contract.ts';
import {
  deleteNamespace,
  type Hub,
  openHubBed,
  podOf,
  startHub,
} from '../../../../../support/hosting/hub-bed.ts';
import { memoryHubEtcd } from '../../../../../support/hosting/memory-hub-etcd.ts';
import { workloadImages, workloadSpec } from '../../../../../support/hosting/workload.ts';

const ANSWER = { interval: 100 };
const { signal } = new AbortController();
const clock = createSystemClock();
let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub?.stop());

describePlaneDriver('pods of a hub', () => openHubBed(hub), PODS);

function driverWith(client: Client, asking = ASKING): PlaneDriver {
  return createWorkloadDriver({ client, clock, images: async () => workloadImages(), asking });
}

function planeNamed(name: string): ReturnType<typeof workloadSpec> {
  onTestFinished(() => deleteNamespace(hub.client, name));
  return { ...workloadSpec(), name, uid: `uid-${name}` };
}

describe('the driver of pods', () => {
  it('HOS-06 notices that a volume was wiped behind its claim, and lets no new etcd begin', async () => {
    const plane = planeNamed('wiped');
    const namespace = planeNamespace('wiped');
    const driver = driverWith(hub.hosting);
    const observe = (): Promise<PlaneReport> => driver.observe(plane, signal);
    const state = async (index: number): Promise<string | undefined> =>
      (await observe()).members[index]?.state;
    await driver.prepare(plane);
    await driver.start(plane, 'etcd');
    await expect.poll(() => state(0), ANSWER).toBe('Ready');
    await driver.start(plane, 'kube-apiserver');
    await expect.poll(() => state(1), ANSWER).toBe('Ready');
    expect((await observe()).data).toBe('Own');
    const claim = await hub.client.get(VOLUME_CLAIMS, { name: 'etcd', namespace });
    hub.player.wipe(claim.metadata.uid ?? '');
    const pod = await podOf(hub.client, namespace, 'etcd');
    const found = await hub.client.get(POD_KIND, pod);
    await hub.client.delete(POD_KIND, pod, { uid: found.metadata.uid ?? '' });
    await expect.poll(async () => (await observe()).data, ANSWER).toBe('Empty');
    const [etcd] = (await observe()).members;
    expect([etcd?.state, etcd?.problem?.reason]).toEqual(['Starting', 'MemberCrashes']);
  });

  it('HOS-31 keeps what it knows of the last snapshot when the next one is not taken, and leaves no Job', async () => {
    const { plane, driver } = await startedPlane('snapshots');
    const snapshotAt = async (): Promise<Date | undefined> =>
      (await driver.observe(plane, signal)).snapshotAt;
    await takeSnapshot(driver, plane);
    const before = await snapshotAt();
    expect(before).toBeInstanceOf(Date);
    hub.player.breakSnapshots('no valid snapshot of etcd: expected 9 keys');
    await expect(takeSnapshot(driver, plane)).rejects.toMatchObject({
      code: 'SnapshotInvalid',
      message: expect.stringContaining('expected 9 keys') as string,
    });
    hub.player.breakSnapshots(undefined);
    expect(await snapshotAt()).toEqual(before);
    const job = { name: SNAPSHOT, namespace: planeNamespace('snapshots') };
    await expect.poll(() => unlessMissing(hub.client.get(JOBS, job)), ANSWER).toBeUndefined();
    const claim = await hub.client.get(VOLUME_CLAIMS, job);
    expect(claim.metadata.annotations?.[ANNOTATION_OWNER_UID]).toBe(plane.uid);
  });

  it('HOS-04 waits for a Job that a former process began, and makes no second one', async () => {
    const { plane, driver } = await startedPlane('snapshot-crash');
    const killed = driverWith(killedAfter(hub.hosting, JOBS.kind));
    await expect(killed.snapshot(plane)).rejects.toThrow('killed');
    const job = { name: SNAPSHOT, namespace: planeNamespace('snapshot-crash') };
    const began = (await hub.client.get(JOBS, job)).metadata.annotations?.[ANNOTATION_TAKEN_AT];
    await takeSnapshot(driver, plane);
    expect((await driver.observe(plane, signal)).snapshotAt?.toISOString()).toBe(began);
  });

  it('HOS-13 replaces an API server while the former one serves, and has what it was changed to', async () => {
    const { plane, driver, members } = await startedPlane('surge');
    const report = async (): Promise<MemberReport | undefined> => (await members())[1];
    const before = await report();
    expect(before?.run).toBeDefined();
    const run = { ...before?.run, flags: { ...before?.run?.flags, v: '4' } };
    await driver.change(plane, 'kube-apiserver', run);
    const states = new Set<string>();
    const next = async (): Promise<string | undefined> => {
      const found = await report();
      states.add(`${found?.state} ${found?.isServed ?? false}`);
      return found?.state;
    };
    await expect.poll(next, ANSWER).toBe('Ready');
    // It was never without one that serves.
    expect([...states].toSorted()).not.toContain('Starting false');
    const after = await report();
    expect(after).toMatchObject({ run, isOutdated: false });
    expect(after?.identity).not.toBe(before?.identity);
    const [pod, ...others] = await apiServerPods('surge');
    expect([argsOf(pod).includes('--v=4'), others]).toEqual([true, []]);
  });

  it('HOS-04 finds no edit where there was none, and corrects one of a person', async () => {
    const { plane, driver, members } = await startedPlane('edited');
    const drifts = async (): Promise<readonly (string | undefined)[]> =>
      (await members()).map(({ drift, isOutdated }) => drift?.what ?? (isOutdated ? 'outdated' : 'none'));
    expect(await drifts()).toEqual(['none', 'none', 'none', 'none', 'none']);
    const image = `registry.example/other@sha256:${'b'.repeat(64)}`;
    const name = { name: 'kube-scheduler', namespace: planeNamespace('edited') };
    const imaged = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: image } as const;
    const scaled = { op: 'replace', path: '/spec/replicas', value: 2 } as const;
    await hub.client.patch(DEPLOYMENTS, name, { type: 'json', body: [scaled, imaged] });
    expect((await drifts())[3]).toMatch(/^its Deployment has 2 replicas, not 1/);
    await driver.correct?.(plane, 'kube-scheduler');
    expect(await drifts()).toEqual(['none', 'none', 'none', 'none', 'none']);
    await hub.client.patch(DEPLOYMENTS, name, { type: 'json', body: [imaged] });
    expect((await drifts())[3]).toContain(`another program or other flags, with the image ${image}`);
    await driver.correct?.(plane, 'kube-scheduler');
    const state = async (): Promise<string | undefined> => (await members())[3]?.state;
    await expect.poll(state, ANSWER).toBe('Ready');
    expect(await drifts()).toEqual(['none', 'none', 'none', 'none', 'none']);
  });

  it('HOS-04 goes on after a crash at any write of a creation, with the same keys', async () => {
    const plane = planeNamed('crashes');
    const keys = new Set<string>();
    const written = new Set<string>();
    for (let isDone = false; !isDone; ) {
      isDone = await createOnce(driverWith(killedAtNews(hub.hosting, written)), plane);
      const access = await driverWith(hub.hosting).access(plane);
      if (access) keys.add(access.admin);
    }
    expect(written.size).toBeGreaterThan(20);
    expect(keys.size).toBe(1);
    const { members } = await driverWith(hub.hosting).observe(plane, signal);
    expect(members[0]?.starts).toHaveLength(1);
  });

  it('HOS-02 leaves no namespace, and touches none that is not its own', async () => {
    const plane = planeNamed('removed');
    const driver = driverWith(hub.hosting);
    await driver.prepare(plane);
    await driver.start(plane, 'etcd');
    const other = { ...plane, uid: 'another' };
    await expect(driver.remove(other)).rejects.toMatchObject({ code: 'NamespaceNotOurs' });
    await driver.beginDestroy(plane);
    await driver.stop(plane, 'etcd');
    await driver.remove(plane);
    const name = planeNamespace('removed');
    expect(await unlessMissing(hub.client.get(NAMESPACES, { name }))).toBeUndefined();
  });

  it('HOS-33 makes members of etcd of objects that the hub accepts, each with a volume and an address of its own', async () => {
    const { client } = hub;
    const etcd = memoryHubEtcd(
      () => true,
      () => undefined,
    );
    etcd.list.set('etcd', { isLearner: false, isStarted: true });
    const driver = driverWith(hub.hosting, etcd.asking);
    const named = planeNamed('members');
    const plane = { ...named, settings: { ...named.settings, etcdReplicas: 3 } } as const;
    const report = async (member: string): Promise<MemberReport | undefined> =>
      (await driver.observe(plane, signal)).members.find((each) => each.member === member);
    const ready = (member: string): Promise<void> =>
      expect.poll(async () => (await report(member))?.state, ANSWER).toBe('Ready');
    await driver.prepare(plane);
    await driver.start(plane, 'etcd');
    await ready('etcd');
    await driver.addEtcdMember(plane, 'etcd-1');
    await driver.start(plane, 'etcd-1');
    await ready('etcd-1');
    etcd.list.set('etcd-1', { isLearner: true, isStarted: true });
    await driver.promoteEtcdMember(plane, 'etcd-1');
    expect(await report('etcd-1')).toMatchObject({ state: 'Ready', data: 'Own' });
    expect(await report('etcd-2')).toMatchObject({ state: 'Stopped', data: 'Empty' });
    expect((await driver.observe(plane, signal)).etcd).toEqual([
      { member: 'etcd', isLearner: false, isStarted: true },
      { member: 'etcd-1', isLearner: false, isStarted: true },
    ]);
    const { items } = await client.list(VOLUME_CLAIMS, { namespace: planeNamespace('members') });
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['etcd', 'etcd-1', 'etcd-2']);
    const pods = await client.list(POD_KIND, {
      namespace: planeNamespace('members'),
      labelSelector: 'kubenode.dev/part=etcd-1',
    });
    const clusters = pods.items
      .flatMap(argsOf)
      .filter((arg) => typeof arg === 'string' && arg.startsWith('--initial-cluster='));
    expect(clusters).toEqual([expect.not.stringContaining(',')]);
  });

  it('HOS-13 selects all API servers by one Service and one budget, and asks each by its pod', async () => {
    const { plane, driver, servers } = await startedServers('servers');
    const namespace = planeNamespace('servers');
    const [service, budget] = await Promise.all([
      hub.client.get(SERVICES, { name: 'kube-apiserver', namespace }),
      hub.client.get(DISRUPTION_BUDGETS, { name: 'kube-apiserver', namespace }),
    ]);
    const selector = valueAt(service, 'spec', 'selector') as Record<string, string>;
    const labels = Object.entries(selector).map((label) => label.join('='));
    const { items } = await hub.client.list(POD_KIND, { namespace, labelSelector: labels.join(',') });
    expect(items).toHaveLength(2);
    expect(valueAt(budget, 'spec', 'selector', 'matchLabels')).toEqual(selector);
    expect(valueAt(budget, 'spec', 'maxUnavailable')).toBe(1);
    const access = await driver.access(plane);
    const places = access?.apiServers?.map(({ admin }) => /server: (?<url>.*)/.exec(admin)?.groups?.['url']);
    const addresses = items.map((pod) => `https://${textAt(pod, 'status', 'podIP')}:6443`);
    expect(places?.toSorted()).toEqual(addresses.toSorted());
    const serials = (await servers()).map(({ certificate }) => certificate?.serial);
    expect([new Set(serials).size, serials[0]]).toEqual([1, expect.any(String)]);
  });

  it('HOS-13 replaces one API server while the other stays, and removes all of one that is not counted', async () => {
    const { plane, driver, servers } = await startedServers('changed');
    const identities = async (): Promise<readonly unknown[]> =>
      (await servers()).map(({ identity }) => identity);
    const [[first, second], [before]] = [await identities(), await servers()];
    const run = { ...before?.run, flags: { ...before?.run?.flags, v: '4' } };
    await driver.change(plane, 'kube-apiserver-1', run);
    await expect.poll(async () => (await identities())[1], ANSWER).not.toBe(second);
    await expect.poll(async () => (await servers()).map(({ state }) => state), ANSWER).toEqual(BOTH_READY);
    expect(await servers()).toMatchObject([
      { identity: first, run: before?.run },
      { run, isOutdated: false },
    ]);
    await driver.stop(plane, 'kube-apiserver-1');
    await driver.setApiServers(plane, 1);
    expect(await identities()).toEqual([first]);
    const place = { name: 'kube-apiserver-1', namespace: planeNamespace('changed') };
    await expect.poll(() => unlessMissing(hub.client.get(DEPLOYMENTS, place)), ANSWER).toBeUndefined();
  });

  it('HOS-33 gives the Service of a member that somebody deleted the address that it had', async () => {
    const plane = planeNamed('services');
    const driver = driverWith(hub.hosting);
    await driver.prepare(plane);
    const place = { name: 'etcd', namespace: planeNamespace('services') };
    const before = await hub.client.get(SERVICES, place);
    await hub.client.delete(SERVICES, place, { uid: before.metadata.uid ?? '' });
    expect((await driver.observe(plane, signal)).isPrepared).toBe(false);
    await driver.prepare(plane);
    const after = await hub.client.get(SERVICES, place);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    expect(textAt(after, 'spec', 'clusterIP')).toBe(textAt(before, 'spec', 'clusterIP'));
    expect((await driver.observe(plane, signal)).isPrepared).toBe(true);
  });

  it('HOS-40 reads Secrets in the namespaces of its control planes, and in no other', async () => {
    const plane = planeNamed('rights');
    await driverWith(hub.hosting).prepare(plane);
    const { items } = await hub.hosting.list(SECRETS, { namespace: planeNamespace('rights') });
    expect(items.length).toBeGreaterThan(5);
    const elsewhere = hub.hosting
      .list(SECRETS, { namespace: 'kube-system' })
      .catch((error: unknown) => error);
    expect(isKubeError(await elsewhere, 'Forbidden')).toBe(true);
  });
});

interface StartedPlane {
  readonly plane: ReturnType<typeof workloadSpec>;
  readonly driver: PlaneDriver;
  readonly members: () => Promise<readonly MemberReport[]>;
}

/** All members are pods that answer. */
async function startedPlane(name: string): Promise<StartedPlane> {
  const plane = planeNamed(name);
  const driver = driverWith(hub.hosting);
  const members = async (): Promise<readonly MemberReport[]> => (await driver.observe(plane, signal)).members;
  await driver.prepare(plane);
  const states = async (): Promise<readonly string[]> => (await members()).map(({ state }) => state);
  await driver.start(plane, 'etcd');
  await expect.poll(async () => (await states())[0], ANSWER).toBe('Ready');
  for (const member of MEMBERS) await driver.start(plane, member);
  await expect.poll(states, ANSWER).toEqual(MEMBERS.map(() => 'Ready'));
  return { plane, driver, members };
}

interface StartedServers extends Pick<StartedPlane, 'plane' | 'driver'> {
  readonly servers: () => Promise<readonly MemberReport[]>;
}

const BOTH_READY = ['Ready', 'Ready'];

/** Etcd and two API servers are pods that answer. */
async function startedServers(name: string): Promise<StartedServers> {
  const plane = { ...planeNamed(name), apiServers: 2 };
  const driver = driverWith(hub.hosting);
  const members = async (): Promise<readonly MemberReport[]> => (await driver.observe(plane, signal)).members;
  const servers = async (): Promise<readonly MemberReport[]> =>
    (await members()).filter(({ member }) => isApiServer(member));
  await driver.prepare(plane);
  await driver.start(plane, 'etcd');
  await expect.poll(async () => (await members())[0]?.state, ANSWER).toBe('Ready');
  for (const member of API_SERVERS.slice(0, 2)) await driver.start(plane, member);
  await expect.poll(async () => (await servers()).map(({ state }) => state), ANSWER).toEqual(BOTH_READY);
  return { plane, driver, servers };
}

async function apiServerPods(name: string): Promise<readonly KubeObject[]> {
  const options = { namespace: planeNamespace(name), labelSelector: 'kubenode.dev/part=kube-apiserver' };
  const { items } = await hub.client.list(POD_KIND, options);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

function argsOf(pod: KubeObject | undefined): readonly unknown[] {
  return listAt(pod, 'spec', 'containers', 0, 'args');
}

/** Resolves to whether it got to the end. */
async function createOnce(driver: PlaneDriver, plane: ReturnType<typeof workloadSpec>): Promise<boolean> {
  try {
    await driver.prepare(plane);
    await driver.start(plane, 'etcd');
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === 'killed') return false;
    throw error;
  }
}

/** A client whose process is killed right after it has created an object of that kind. */
function killedAfter(client: Client, kind: string): Client {
  return {
    ...client,
    create: async (...args) => {
      const result = await client.create(...args);
      if (args[0].kind === kind) throw new Error('killed');
      return result as never;
    },
  };
}

/** A client whose process is killed right after the first write that no process before it has sent. */
function killedAtNews(client: Client, written: Set<string>): Client {
  const kill = async <T>(what: readonly unknown[], write: () => Promise<T>): Promise<T> => {
    const result = await write();
    const text = JSON.stringify(what);
    if (written.has(text)) return result;
    written.add(text);
    throw new Error('killed');
  };
  return {
    ...client,
    apply: (...args) => kill(args, () => client.apply(...args)),
    create: (...args) => kill(args, () => client.create(...args)),
    replace: (...args) => kill(args, () => client.replace(...args)),
    patch: (...args) => kill(args, () => client.patch(...args)),
  };
}
