/** Snapshots of an etcd of pods: the real controller and the real driver on a hub in memory, whose Job does not end, or is not what it should be. */
import { describe, expect, it } from 'vitest';
import {
  planeNamespace,
  SNAPSHOT,
} from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import {
  snapshotGiB,
  VOLUME_CLAIMS,
} from '../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import {
  JOBS,
  jobImages,
} from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import type { Hosted } from '../../../../../../src/controllers/hosting/plan/input.ts';
import { valueAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../../src/sim/api-server/kinds.ts';
import { applied, conditionText } from '../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../support/hosting/memory-hub.ts';
import { HOSTED, OLD_VERSION, VERSION } from '../../../../../support/hosting/objects.ts';
import { planeRecord } from '../../../../../support/hosting/workload.ts';

const NAME = { name: SNAPSHOT, namespace: planeNamespace('ci') };
const OLD: Partial<Hosted> = {
  driver: 'workload',
  version: OLD_VERSION,
  upgrade: { ...HOSTED.upgrade, soakSeconds: 5, progressDeadlineSeconds: 60, allowEtcdUpgrade: false },
};

/** A control plane that is changed to another version, whose Job does not end. */
async function hanging(): Promise<MemoryHub> {
  const hub = memoryHub([applied({ hosted: OLD })], hubImages());
  await hub.start();
  await hub.advance(15_000);
  hub.made.length = 0;
  hub.faults.set(SNAPSHOT, 'hangs');
  hub.apply(applied({ hosted: { ...OLD, version: VERSION } }));
  return hub;
}

function read(hub: MemoryHub, resource: Resource): KubeObject | undefined {
  const objects = hub.api.objects.list(servedKind(resource), NAME.namespace);
  return objects.find(({ metadata }) => metadata.name === SNAPSHOT);
}

function waiting(hub: MemoryHub): string {
  return `${hub.status()?.waiting?.reason}; ${conditionText(hub, 'ControlPlaneStalled')}`;
}

describe('a snapshot whose Job does not end', () => {
  it('HOS-31 is waited for without a worker of the controller, and is blocked after 30 s without a pod', async () => {
    const hub = await hanging();
    await hub.advance(12_000);
    expect(waiting(hub)).toBe('SnapshotRunning; False NotStalled');
    const uid = read(hub, JOBS)?.metadata.uid;
    await hub.advance(40_000);
    expect(waiting(hub)).toBe('SnapshotInvalid; True SnapshotInvalid');
    expect(hub.status()?.waiting?.message).toContain('has no pod after 30 s');
    expect(read(hub, JOBS)?.metadata.uid).toBe(uid);
    hub.faults.clear();
    await hub.advance(60_000);
    expect(waiting(hub)).toBe('undefined; False NotStalled');
    expect(hub.made[0]).toBe('etcd-snapshot Complete');
  });

  it('HOS-31 is taken by another Job when the file of images has other images than the one that is blocked', async () => {
    const hub = await hanging();
    await hub.advance(52_000);
    const before = read(hub, JOBS);
    hub.images = hubImages('d');
    await hub.advance(30_000);
    const after = read(hub, JOBS);
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect(after && jobImages(after)).toEqual([
      hub.images.kubenode,
      hub.images.versions[0]?.images.etcd,
      hub.images.kubenode,
    ]);
  });

  it('HOS-31 gets another volume when a person deletes the claim, as the message tells', async () => {
    const hub = await hanging();
    await hub.advance(52_000);
    expect(hub.status()?.waiting?.message).toContain('delete PersistentVolumeClaim etcd-snapshot');
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), NAME);
    expect(read(hub, VOLUME_CLAIMS)).toBeUndefined();
    await hub.advance(12_000);
    expect(valueAt(read(hub, VOLUME_CLAIMS), 'spec', 'resources', 'requests', 'storage')).toBe('8Gi');
  });
});

it.each([
  [8, 2048, 8],
  [8, 8192, 25],
  [1, 100, 2],
])(
  'HOS-31 has room for three databases: %i GiB for etcd and a quota of %i MiB are %i GiB',
  (storageGiB, quotaMiB, expected) => {
    const record = planeRecord({ etcd: { replicas: 1, storageGiB, quotaMiB } });
    expect(snapshotGiB(record)).toBe(expected);
  },
);
