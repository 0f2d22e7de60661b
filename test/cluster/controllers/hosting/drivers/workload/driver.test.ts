/** The driver of pods on a real API server as hub, with the installed rights of hosting: what every driver fulfills, and what only a hub has. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { PlaneDriver, PlaneReport } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createWorkloadDriver } from '../../../../../../src/controllers/hosting/drivers/workload/driver.ts';
import { planeNamespace, VOLUME } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import type { Client } from '../../../../../../src/kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../../../src/kube/client/errors.ts';
import { NAMESPACES, PODS as POD_KIND, SECRETS } from '../../../../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { PODS } from '../../../../../support/hosting/contract/faults.ts';
import { describePlaneDriver } from '../../../../../support/hosting/driver-contract.ts';
import {
  deleteNamespace,
  type Hub,
  openHubBed,
  podOf,
  startHub,
} from '../../../../../support/hosting/hub-bed.ts';
import { workloadImages, workloadSpec } from '../../../../../support/hosting/workload.ts';

const ANSWER = { timeout: 60_000, interval: 100 };
const { signal } = new AbortController();
const clock = createSystemClock();
let hub: Hub;

beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub?.stop());

describePlaneDriver('pods of a hub', () => openHubBed(hub), PODS);

function driverWith(client: Client): PlaneDriver {
  return createWorkloadDriver({ client, clock, images: async () => workloadImages() });
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
    const claim = await hub.client.get(VOLUME_CLAIMS, { name: VOLUME, namespace });
    hub.player.wipe(claim.metadata.uid ?? '');
    const pod = await podOf(hub.client, namespace, 'etcd');
    const found = await hub.client.get(POD_KIND, pod);
    await hub.client.delete(POD_KIND, pod, { uid: found.metadata.uid ?? '' });
    await expect.poll(async () => (await observe()).data, ANSWER).toBe('Empty');
    const [etcd] = (await observe()).members;
    expect([etcd?.state, etcd?.problem?.reason]).toEqual(['Starting', 'MemberCrashes']);
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
