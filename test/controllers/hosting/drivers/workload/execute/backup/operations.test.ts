/** Backups of an etcd of pods: the real controller and the real driver on a hub in memory. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_BACKUP_REQUEST } from '../../../../../../../src/api/names.ts';
import {
  BACKUPS,
  planeNamespace,
} from '../../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../../../../../src/controllers/hosting/drivers/workload/objects/namespace.ts';
import { JOBS } from '../../../../../../../src/controllers/hosting/drivers/workload/snapshot/containers.ts';
import type { Hosted } from '../../../../../../../src/controllers/hosting/plan/input.ts';
import { textAt, valueAt } from '../../../../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../../../../src/kube/objects/object.ts';
import { servedKind } from '../../../../../../../src/sim/api-server/kinds.ts';
import type { BedProcess } from '../../../../../../support/controller/bed.ts';
import { applied, conditionText, found } from '../../../../../../support/hosting/bed.ts';
import { hubImages, type MemoryHub, memoryHub } from '../../../../../../support/hosting/memory-hub.ts';
import { HOSTED } from '../../../../../../support/hosting/objects.ts';

const NAMESPACE = planeNamespace('ci');

function hosted(etcd: Partial<Hosted['etcd']>): Partial<Hosted> {
  return { driver: 'workload', etcd: { ...HOSTED.etcd, ...etcd } };
}

const EVERY = hosted({ backup: { everySeconds: 300, keep: 2 } });
const DAILY = hosted({ backup: { everySeconds: 86_400, keep: 2 } });

async function started(
  spec: Partial<Hosted> = EVERY,
  prepare: (hub: MemoryHub) => void = () => undefined,
): Promise<{ readonly hub: MemoryHub; readonly first: BedProcess }> {
  const hub = memoryHub([applied({ hosted: spec })], hubImages());
  prepare(hub);
  const first = await hub.start();
  await hub.advance(30_000);
  return { hub, first };
}

function read(hub: MemoryHub, resource: Resource): KubeObject | undefined {
  const objects = hub.api.objects.list(servedKind(resource), NAMESPACE);
  return objects.find(({ metadata }) => metadata.name === BACKUPS);
}

function count(hub: MemoryHub, line: string): number {
  return hub.made.filter((each) => each === line).length;
}

describe('backups of an etcd of pods', () => {
  it('HOS-32 are taken on a schedule, limited in number, and reported with the newest', async () => {
    const { hub } = await started();
    expect([conditionText(hub, 'BackupReady'), count(hub, 'Backup ended')]).toEqual(['True Recent', 1]);
    expect(textAt(read(hub, VOLUME_CLAIMS), 'spec', 'storageClassName')).toBe('backups');
    expect(read(hub, JOBS)).toBeUndefined();
    await hub.advance(630_000);
    expect([hub.backups.names.length, count(hub, 'Backup ended')]).toEqual([2, 3]);
    expect(hub.status()?.etcd).toMatchObject({ lastBackup: hub.backups.names.at(-1) });
    expect(hub.status()?.etcd?.upkeep).toBeUndefined();
  });

  it('HOS-32 are taken for each request of a person, and for one only once', async () => {
    const { hub } = await started();
    const asked = applied({ hosted: EVERY });
    hub.apply({
      ...asked,
      metadata: { ...asked.metadata, annotations: { [ANNOTATION_BACKUP_REQUEST]: 'a $(HOME) $$' } },
    });
    await hub.advance(120_000);
    expect(count(hub, 'Backup ended')).toBe(2);
    expect(hub.status()?.etcd?.backupRequest).toBe('a $(HOME) $$');
  });

  it('HOS-32 are of the time by the clock of hosting, whatever that of the node is', async () => {
    const { hub } = await started(EVERY, (fresh) => {
      fresh.backups.aheadMs = 3_600_000;
    });
    await hub.advance(270_000);
    expect([count(hub, 'Backup ended'), conditionText(hub, 'BackupReady')]).toEqual([1, 'True Recent']);
  });

  it('HOS-32 are not taken where the file of images has no place for them, which the condition names', async () => {
    const { hub } = await started(EVERY, (fresh) => {
      const { backupStorageClass: _, ...images } = fresh.images;
      fresh.images = images;
    });
    expect(conditionText(hub, 'BackupReady')).toBe('False NotSupported');
    expect(read(hub, VOLUME_CLAIMS)).toBeUndefined();
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  });

  it('HOS-32 that fail are tried after 5 minutes, are a condition, and hold nothing else', async () => {
    const { hub } = await started(EVERY, (fresh) => fresh.faults.set(BACKUPS, 'crashes'));
    expect([conditionText(hub, 'BackupReady'), count(hub, `${BACKUPS} Failed`)]).toEqual([
      'False BackupFailed',
      1,
    ]);
    expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
    hub.faults.clear();
    await hub.advance(240_000);
    expect(count(hub, 'Backup ended')).toBe(0);
    await hub.advance(60_000);
    expect([conditionText(hub, 'BackupReady'), count(hub, 'Backup ended')]).toEqual(['True Recent', 1]);
  });

  it('HOS-32 whose Job gets no pod end after a minute, are named, and run beside every reconcile', async () => {
    const { hub } = await started(EVERY, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    expect(hub.status()?.etcd?.upkeep).toMatchObject({ type: 'Backup' });
    hub.apply(applied({ hosted: { ...EVERY, scheduler: { extraArgs: { v: '3' } } } }));
    await hub.advance(100_000);
    expect(conditionText(hub, 'BackupReady')).toBe('False BackupFailed');
    expect(conditionText(hub, 'ControlPlaneUpToDate')).toMatch(/^True/);
    const [ready] = found(hub)?.status?.conditions?.filter(({ type }) => type === 'BackupReady') ?? [];
    expect(ready?.message).toContain('has no pod after 30 s');
    expect(read(hub, JOBS)).toBeUndefined();
  });

  it('HOS-32 whose report was lost with their pod do not count', async () => {
    const { hub } = await started(EVERY, (fresh) => {
      fresh.backups.losesReport = true;
    });
    expect(conditionText(hub, 'BackupReady')).toBe('False BackupFailed');
    hub.backups.losesReport = false;
    await hub.advance(330_000);
    expect(conditionText(hub, 'BackupReady')).toBe('True Recent');
  });

  it('HOS-32 that a former process of hosting began are waited for, and never taken twice at once', async () => {
    const { hub, first } = await started(DAILY, (fresh) => fresh.faults.set(BACKUPS, 'hangs'));
    const uid = read(hub, JOBS)?.metadata.uid;
    await first.kill();
    hub.faults.clear();
    await hub.start();
    await hub.advance(200_000);
    expect(read(hub, JOBS)?.metadata.uid).toBe(uid);
    await hub.advance(200_000);
    expect([count(hub, 'Backup ended'), conditionText(hub, 'BackupReady')]).toEqual([1, 'True Recent']);
    expect(read(hub, JOBS)).toBeUndefined();
  });

  it('HOS-32 are listed as none when a person deletes their claim, and the next one is taken', async () => {
    const { hub } = await started();
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: BACKUPS, namespace: NAMESPACE });
    hub.backups.names = [];
    await hub.advance(60_000);
    expect([count(hub, 'Backup ended'), hub.backups.names.length]).toEqual([2, 1]);
    expect(hub.status()?.etcd?.lastBackup).toBe(hub.backups.names[0]);
  });

  it('HOS-32 leave a claim of others alone that has their name', async () => {
    const { hub } = await started(EVERY, (fresh) => fresh.faults.set(BACKUPS, 'crashes'));
    const claim = read(hub, VOLUME_CLAIMS);
    if (!claim) throw new Error('there is no claim');
    hub.api.objects.delete(servedKind(VOLUME_CLAIMS), { name: BACKUPS, namespace: NAMESPACE });
    const { spec } = claim as unknown as { spec: object };
    const theirs = { name: BACKUPS, namespace: NAMESPACE, annotations: { team: 'data' } };
    hub.api.objects.create(
      servedKind(VOLUME_CLAIMS),
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: theirs, spec },
      { manager: 'person' },
    );
    hub.faults.clear();
    await hub.advance(400_000);
    expect(count(hub, 'Backup ended')).toBe(0);
    expect(conditionText(hub, 'BackupReady')).toBe('False BackupFailed');
    expect(read(hub, VOLUME_CLAIMS)?.metadata.annotations).toEqual({ team: 'data' });
  });

  it('HOS-32 are not tested by a drill whose report was lost with its pod', async () => {
    const spec = hosted({ backup: { everySeconds: 86_400, keep: 2, drillEverySeconds: 300 } });
    const { hub } = await started(spec);
    await hub.advance(30_000);
    const before = hub.status()?.etcd?.lastDrillAt;
    hub.backups.losesReport = true;
    await hub.advance(330_000);
    expect([count(hub, 'Drill ended'), conditionText(hub, 'BackupReady')]).toEqual([2, 'False DrillFailed']);
    expect(hub.status()?.etcd?.lastDrillAt).toBe(before);
  });

  it('HOS-32 are tested by drills on a schedule, whose result is a condition', async () => {
    const spec = hosted({ backup: { everySeconds: 86_400, keep: 2, drillEverySeconds: 300 } });
    const { hub } = await started(spec);
    await hub.advance(30_000);
    expect([count(hub, 'Drill ended'), hub.status()?.etcd?.lastDrillAt]).toEqual([1, expect.any(String)]);
    expect(hub.status()?.etcd?.lastDrill).toMatchObject({ backup: hub.backups.names.at(-1), objects: 312 });
    hub.backups.names = [];
    await hub.advance(330_000);
    expect(conditionText(hub, 'BackupReady')).toBe('False DrillFailed');
    expect(valueAt(read(hub, JOBS), 'metadata')).toBeUndefined();
  });
});
