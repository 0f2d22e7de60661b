/** Control planes of pods that start from a backup: the real controller and the real driver on a hub in memory. */
import { describe, expect, it } from 'vitest';
import {
  BACKUPS,
  planeNamespace,
} from '../../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { JOBS } from '../../../../../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import type { Hosted } from '../../../../../../../src/controllers/hosting/plan/input.ts';
import { PODS } from '../../../../../../../src/kube/objects/core-kinds.ts';
import { listAt } from '../../../../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../../../src/sim/api-server/kinds.ts';
import type { BedCrash, BedProcess } from '../../../../../../support/controller/bed.ts';
import { applied, conditionText } from '../../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../../support/hosting/memory-hub.ts';
import { HOSTED } from '../../../../../../support/hosting/objects.ts';
import { LONG, SEED } from '../../../../../../support/sweep-size.ts';

const NAMESPACE = planeNamespace('ci');
const NAMES = ['000001-20300101T000000Z', '000002-20300102T000000Z'];
const STRIDE = LONG ? 1 : 5;

function hosted(etcd: Partial<Hosted['etcd']>): Partial<Hosted> {
  return { driver: 'workload', etcd: { ...HOSTED.etcd, ...etcd } };
}

interface Opened {
  readonly hub: MemoryHub;
  readonly first: BedProcess;
}

async function opened(
  etcd: Partial<Hosted['etcd']>,
  prepare: (hub: MemoryHub) => void = () => undefined,
  crash?: BedCrash,
): Promise<Opened> {
  const hub = memoryHub([applied({ hosted: hosted(etcd) })], hubImages());
  hub.backups.names = [...NAMES];
  prepare(hub);
  const first = await hub.start(crash);
  return { hub, first };
}

function read(hub: MemoryHub, resource: Resource, name = BACKUPS): KubeObject | undefined {
  const objects = hub.api.objects.list(servedKind(resource), NAMESPACE);
  return objects.find(({ metadata }) => metadata.name === name);
}

function count(hub: MemoryHub, line: string): number {
  return hub.made.filter((each) => each === line).length;
}

function ready(hub: MemoryHub): readonly unknown[] {
  return [conditionText(hub, 'ControlPlaneReady'), hub.status()?.etcd?.restoredFrom];
}

/** Adds a pod of the Job whose last container was ended after it had reported. */
function endPodOf(hub: MemoryHub, uid = '', message = ''): void {
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: BACKUPS, uid, controller: true }];
  const metadata = { name: 'ended', namespace: NAMESPACE, labels: { 'job-name': BACKUPS }, ownerReferences };
  const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata };
  hub.api.objects.create(servedKind(PODS), pod, { manager: 'hub' });
  const containerStatuses = [{ name: 'place', state: { terminated: { exitCode: 143, message } } }];
  hub.apply({ ...pod, status: { phase: 'Failed', containerStatuses } }, 'status');
}

describe('a control plane of pods that starts from a backup', () => {
  it.each<readonly [string, Partial<Hosted['etcd']>, string | undefined]>([
    ['the newest', { restoreFrom: 'latest' }, NAMES[1]],
    ['the one that is named', { restoreFrom: NAMES[0] as string }, NAMES[0]],
    ['the newest, with three members', { restoreFrom: 'latest', replicas: 3 }, NAMES[1]],
  ])('HOS-32 restores %s before etcd is started, and once', async (_, etcd, from) => {
    const { hub } = await opened(etcd);
    await hub.advance(120_000);
    expect(ready(hub)).toEqual(['True Ready', from]);
    expect(hub.made.slice(0, 2)).toEqual(['Restore ended', `${BACKUPS} Complete`]);
    expect(count(hub, 'Restore ended')).toBe(1);
    expect(read(hub, JOBS)).toBeUndefined();
    // It never begins an etcd without the data of the backup.
    const args = hub.pods('etcd').flatMap((pod) => listAt(pod, 'spec', 'containers', 0, 'args'));
    expect(args).toContain('--initial-cluster-state=existing');
  });

  it('HOS-32 starts nothing without the backup that is named, tells why, and begins without when the field is removed', async () => {
    const { hub } = await opened({ restoreFrom: '000009-20300109T000000Z' });
    await hub.advance(60_000);
    expect(hub.status()?.waiting).toMatchObject({ reason: 'BackupUnusable' });
    expect([conditionText(hub, 'ControlPlaneStalled'), hub.pods('etcd')]).toEqual([
      'True BackupUnusable',
      [],
    ]);
    const failed = count(hub, 'Restore failed');
    expect(failed).toBe(1);
    await hub.advance(330_000);
    expect(count(hub, 'Restore failed')).toBe(2);
    hub.apply(applied({ hosted: hosted({}) }));
    await hub.advance(120_000);
    expect(ready(hub)).toEqual(['True Ready', undefined]);
  });

  it('HOS-32 starts nothing where the file of images has no place for backups', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => {
      const { backupStorageClass: _, ...images } = fresh.images;
      fresh.images = images;
    });
    await hub.advance(30_000);
    expect(hub.status()?.waiting).toMatchObject({ reason: 'BackupMissing' });
    expect(hub.pods('etcd')).toEqual([]);
  });

  it('HOS-32 waits for a Job that runs without a worker, and starts no etcd on its volume when the field is removed', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    await hub.advance(20_000);
    expect(hub.status()?.waiting).toMatchObject({ reason: 'RestoreRunning' });
    expect(conditionText(hub, 'ControlPlaneStalled')).toBe('False NotStalled');
    hub.apply(applied({ hosted: hosted({}) }));
    await hub.advance(60_000);
    expect(ready(hub)).toEqual(['True Ready', undefined]);
    expect(read(hub, JOBS)).toBeUndefined();
    expect(count(hub, 'Restore ended')).toBe(0);
  });

  it('HOS-32 tells that a Job without a pod waits, and advises to delete nothing', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    await hub.advance(60_000);
    const { reason, message } = hub.status()?.waiting ?? {};
    expect(reason).toBe('RestoreBlocked');
    expect(message).toContain('there is nothing to delete');
    hub.faults.clear();
    await hub.advance(120_000);
    expect(ready(hub)).toEqual(['True Ready', NAMES[1]]);
  });

  it('HOS-32 ends a Job before etcd is started, also when the claim of backups is missing', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    await hub.advance(20_000);
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: BACKUPS, namespace: NAMESPACE });
    hub.apply(applied({ hosted: hosted({}) }));
    await hub.advance(60_000);
    expect(ready(hub)).toEqual(['True Ready', undefined]);
    expect(read(hub, JOBS)).toBeUndefined();
  });

  it('HOS-32 reports the backup whose data a pod put in place before it was ended, when the field is removed', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    await hub.advance(20_000);
    endPodOf(hub, read(hub, JOBS)?.metadata.uid, NAMES[1]);
    hub.apply(applied({ hosted: hosted({}) }));
    await hub.advance(60_000);
    expect(ready(hub)).toEqual(['True Ready', NAMES[1]]);
    expect([read(hub, JOBS), count(hub, 'Restore ended')]).toEqual([undefined, 0]);
  });

  it('HOS-32 restores by another Job when the file of images has other images than one that does not end', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' }, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    await hub.advance(20_000);
    const before = read(hub, JOBS)?.metadata.uid;
    hub.images = hubImages('d');
    hub.faults.clear();
    await hub.advance(90_000);
    expect(before).toBeDefined();
    expect(ready(hub)).toEqual(['True Ready', NAMES[1]]);
  });

  it('HOS-32 restores again into another claim when that of etcd was lost before its first start', async () => {
    const { hub } = await opened({ restoreFrom: 'latest' });
    for (let step = 0; step < 100 && count(hub, `${BACKUPS} Complete`) === 0; step += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      await hub.advance(100);
    }
    expect(hub.pods('etcd')).toEqual([]);
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: 'etcd', namespace: NAMESPACE });
    hub.faults.set(BACKUPS, 'hangs');
    await hub.advance(20_000);
    // The other claim is empty: no etcd is started on it as on the one that was restored.
    expect(read(hub, VOLUME_CLAIMS, 'etcd')).toBeDefined();
    expect([hub.pods('etcd'), hub.status()?.waiting?.reason]).toEqual([[], 'RestoreRunning']);
    hub.faults.clear();
    await hub.advance(120_000);
    expect(ready(hub)).toEqual(['True Ready', NAMES[1]]);
    expect(count(hub, 'Restore ended')).toBe(2);
  });

  it('HOS-32 restores again when the claim of etcd was replaced before hosting knew of the first one', async () => {
    const { hub, first } = await opened({ restoreFrom: 'latest' }, (fresh) =>
      fresh.faults.set(BACKUPS, 'hangs'),
    );
    await hub.advance(20_000);
    await first.kill();
    hub.faults.clear();
    await hub.advance(1000);
    expect(count(hub, 'Restore ended')).toBe(1);
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: 'etcd', namespace: NAMESPACE });
    await hub.start();
    await hub.advance(120_000);
    expect(ready(hub)).toEqual(['True Ready', NAMES[1]]);
    expect(count(hub, 'Restore ended')).toBe(2);
  });

  it.each(['before', 'after'] as const)(
    'HOS-04 HOS-32 starts from the backup when hosting is killed %s any write',
    async (when) => {
      let crashed = true;
      for (let n = 1 + (SEED % STRIDE); crashed; n += STRIDE) {
        // oxlint-disable no-await-in-loop -- one control plane after the other
        const { hub, first } = await opened({ restoreFrom: 'latest' }, undefined, { n, when });
        for (let seconds = 0; seconds < 40 && !first.crashed; seconds += 5) await hub.advance(5000);
        ({ crashed } = first);
        await first.kill();
        await hub.start();
        await hub.advance(60_000);
        expect([n, ...ready(hub)]).toEqual([n, 'True Ready', NAMES[1]]);
        expect([n, count(hub, 'Restore ended'), read(hub, JOBS)]).toEqual([n, 1, undefined]);
        // oxlint-enable no-await-in-loop
      }
    },
  );
});
