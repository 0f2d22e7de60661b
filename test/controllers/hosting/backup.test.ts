import { describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import type { HostedUpkeep } from '../../../src/api/generated/types.ts';
import { ANNOTATION_BACKUP_REQUEST } from '../../../src/api/names.ts';
import { createHostingController } from '../../../src/controllers/hosting/controller.ts';
import { INTERRUPTED } from '../../../src/controllers/hosting/drivers/driver.ts';
import { NOW } from '../../support/builders.ts';
import { sweepCrashes } from '../../support/controller/bed.ts';
import {
  applied,
  conditionText,
  found,
  type HostingBed,
  hostingBed,
  KINDS,
} from '../../support/hosting/bed.ts';
import { type MemoryHosting, memoryHosting } from '../../support/hosting/memory/driver.ts';
import { HOSTED, type HostedParts } from '../../support/hosting/objects.ts';
import { memoryGrants } from '../../support/memory-grants.ts';

const HOUR = 3_600_000;
const EVERY: HostedParts = { hosted: { etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 2 } } } };

function restoring(restoreFrom: string): HostedParts {
  return { hosted: { etcd: { ...HOSTED.etcd, restoreFrom } } };
}

async function ready(parts: HostedParts): Promise<HostingBed> {
  const bed = hostingBed([applied(parts)]);
  await bed.start();
  await bed.advance(10_000);
  return bed;
}

/** A control plane whose first backup is being taken, until it is released. */
async function holding(parts: HostedParts): Promise<HostingBed> {
  const bed = hostingBed([applied(parts)]);
  bed.hosting().backups.isHeld = true;
  await bed.start();
  await bed.advance(10_000);
  return bed;
}

function upkeepOf(bed: HostingBed): HostedUpkeep | undefined {
  return found(bed)?.status?.hosted?.etcd?.upkeep;
}

function withStored(): MemoryHosting {
  const hosting = memoryHosting(() => NOW);
  hosting.backups.stored.set('ci', [{ name: '000001-20200101T000000Z', takenAt: new Date(0) }]);
  return hosting;
}

function drillAt(bed: HostingBed): string | undefined {
  return found(bed)?.status?.hosted?.etcd?.lastDrillAt;
}

function newest(bed: HostingBed): string {
  return bed.hosting().backups.stored.get('ci')?.at(-1)?.name ?? '';
}

function count(bed: HostingBed, what: string): number {
  return bed.hosting().log.filter((line) => line.startsWith(what)).length;
}

describe('the database of etcd', () => {
  it('HOS-33 that is full is reported with what to do, and is made smaller when there is room', async () => {
    const bed = await ready({});
    const plane = bed.hosting().planes.get('ci');
    const full = { quotaBytes: 64e6, dbBytes: 64e6, inUseBytes: 63e6, isFull: true };
    if (plane) plane.space = full;
    await bed.advance(120_000);
    expect([count(bed, 'shrink ci'), conditionText(bed, 'EtcdReady')]).toEqual([1, 'False QuotaExceeded']);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
    expect(found(bed)?.status?.hosted?.etcd?.dbBytes).toBe(63e6);
    if (plane?.space) plane.space = { ...plane.space, inUseBytes: 5e6 };
    await bed.advance(300_000);
    expect([count(bed, 'shrink ci'), conditionText(bed, 'EtcdReady')]).toEqual([2, 'True Ready']);
  });
});

describe('the backups of a hosted control plane', () => {
  it('HOS-32 are taken on their schedule, limited in number, and reported', async () => {
    const bed = await ready(EVERY);
    expect([count(bed, 'backup ci'), conditionText(bed, 'BackupReady')]).toEqual([1, 'True Recent']);
    await bed.advance(3 * HOUR);
    expect(count(bed, 'backup ci')).toBe(4);
    const stored = bed.hosting().backups.stored.get('ci') ?? [];
    expect(stored).toHaveLength(2);
    expect(found(bed)?.status?.hosted?.etcd).toMatchObject({ lastBackup: stored[1]?.name, members: 1 });
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
  });

  it('HOS-32 that fail are tried every 5 minutes, and keep the control plane from nothing', async () => {
    const bed = await ready(EVERY);
    const { backups } = bed.hosting();
    backups.problem = 'the disk is full';
    await bed.advance(HOUR);
    expect(conditionText(bed, 'BackupReady')).toBe('True LastAttemptFailed');
    await bed.advance(HOUR + 60_000);
    expect(conditionText(bed, 'BackupReady')).toBe('False BackupFailed');
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe('False NotStalled');
    backups.problem = undefined;
    await bed.advance(300_000);
    expect([count(bed, 'backup ci'), conditionText(bed, 'BackupReady')]).toEqual([2, 'True Recent']);
  });

  it('HOS-32 are taken once for each request of a person', async () => {
    const asked = {
      ...applied(),
      metadata: { name: 'ci', annotations: { [ANNOTATION_BACKUP_REQUEST]: 'q' } },
    };
    const bed = hostingBed([asked]);
    await bed.start();
    await bed.advance(60_000);
    expect(count(bed, 'backup ci')).toBe(1);
    expect(found(bed)?.status?.hosted?.etcd?.backupRequest).toBe('q');
  });

  it('HOS-32 outlive their Cluster, and another one of the same name starts from them', async () => {
    const bed = await ready(EVERY);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect(found(bed)).toBeUndefined();
    bed.apply(applied(restoring('latest')));
    await bed.advance(10_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    const [name] = (bed.hosting().backups.stored.get('ci') ?? []).map((each) => each.name);
    expect(found(bed)?.status?.hosted?.etcd?.restoredFrom).toBe(name);
    expect(count(bed, 'restore ci')).toBe(1);
  });

  it.each([
    ['is missing', 'BackupMissing', false],
    ['does not open', 'BackupUnusable', true],
  ])('HOS-32 start no etcd from one that %s, and say what to do', async (_, reason, isThere) => {
    const bed = hostingBed([applied(restoring('latest'))]);
    const { stored, damaged } = bed.hosting().backups;
    if (isThere) stored.set('ci', [{ name: 'a', takenAt: NOW }]);
    damaged.add('a');
    await bed.start();
    await bed.advance(30_000);
    expect(conditionText(bed, 'ControlPlaneStalled')).toBe(`True ${reason}`);
    expect(bed.hosting().log).toEqual(['prepare ci']);
    damaged.clear();
    stored.set('ci', [{ name: 'a', takenAt: NOW }]);
    await bed.advance(20_000);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
  });

  it('HOS-32 are restored in drills: one that fails is reported, and one that is postponed is not', async () => {
    const backup = { everySeconds: 3600, keep: 2, drillEverySeconds: 7200 };
    const bed = await ready({ hosted: { etcd: { ...HOSTED.etcd, backup } } });
    expect([count(bed, 'drill ci'), conditionText(bed, 'BackupReady')]).toEqual([1, 'True Recent']);
    const passedAt = drillAt(bed);
    expect(passedAt).toBeDefined();
    const { backups } = bed.hosting();
    backups.isMemoryShort = true;
    await bed.advance(2.5 * HOUR);
    // The drill is due for half an hour, and asked for every 10 s.
    expect(count(bed, 'postpone ci')).toBeGreaterThan(0);
    expect(count(bed, 'postpone ci')).toBeLessThan(200);
    expect([count(bed, 'drill ci'), conditionText(bed, 'BackupReady')]).toEqual([1, 'True Recent']);
    backups.damaged.add(newest(bed));
    backups.isMemoryShort = false;
    await bed.advance(60_000);
    expect(conditionText(bed, 'BackupReady')).toBe('False DrillFailed');
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect(drillAt(bed)).toBe(passedAt);
    backups.damaged.clear();
    await bed.advance(300_000);
    expect([count(bed, 'drill ci'), conditionText(bed, 'BackupReady')]).toEqual([2, 'True Recent']);
  });

  it('HOS-32 are taken beside the reconcile: a member that ends is started again meanwhile', async () => {
    const bed = await holding(EVERY);
    expect(upkeepOf(bed)).toMatchObject({ type: 'Backup', step: 'Copying' });
    expect(conditionText(bed, 'BackupReady')).toBe('False BackupDue');
    const plane = bed.hosting().planes.get('ci');
    plane?.running.delete('kube-scheduler');
    await bed.advance(30_000);
    expect(plane?.running.has('kube-scheduler')).toBe(true);
    expect(conditionText(bed, 'ControlPlaneReady')).toBe('True Ready');
    expect([count(bed, 'backup ci'), upkeepOf(bed)?.type]).toEqual([0, 'Backup']);
    bed.hosting().backups.release();
    await bed.advance(1000);
    expect([count(bed, 'backup ci'), upkeepOf(bed)]).toEqual([1, undefined]);
    expect(conditionText(bed, 'BackupReady')).toBe('True Recent');
  });

  it('HOS-32 are restored in drills beside the reconcile, which begins no backup meanwhile', async () => {
    const bed = await ready({});
    const { backups } = bed.hosting();
    backups.isHeld = true;
    const backup = { everySeconds: 3600, keep: 2, drillEverySeconds: 7200 };
    backups.stored.set('ci', [{ name: '000001-20300101T000000Z', takenAt: bed.clock.now() }]);
    const scheduled = applied({ hosted: { etcd: { ...HOSTED.etcd, backup } } });
    bed.apply(scheduled);
    await bed.advance(5000);
    const annotations = { [ANNOTATION_BACKUP_REQUEST]: 'q' };
    bed.apply({ ...scheduled, metadata: { name: 'ci', annotations } });
    await bed.advance(30_000);
    expect(upkeepOf(bed)?.type).toBe('Drill');
    expect([conditionText(bed, 'BackupReady'), count(bed, 'drill ci')]).toEqual(['True Recent', 0]);
    backups.release();
    await bed.advance(1000);
    expect([count(bed, 'drill ci'), upkeepOf(bed)?.type]).toEqual([1, 'Backup']);
    expect(drillAt(bed)).toBeDefined();
  });

  it('HOS-32 end with the deletion of their Cluster', async () => {
    const bed = await holding(EVERY);
    bed.delete(CLUSTERS, 'ci');
    await bed.advance(12_000);
    expect([found(bed), bed.hosting().planes.size]).toEqual([undefined, 0]);
    expect(bed.hosting().backups.attempts.get('ci')?.problem).toBe(INTERRUPTED);
    expect(bed.hosting().backups.stored.get('ci')).toBeUndefined();
  });

  it('HOS-32 that a killed hosting interrupted are taken again after 5 minutes, and reported until then', async () => {
    const bed = hostingBed([applied(EVERY)]);
    const process = await bed.start();
    const { backups } = bed.hosting();
    backups.isHeld = true;
    await bed.advance(10_000);
    await process.kill();
    backups.isHeld = false;
    await bed.start();
    await bed.advance(20_000);
    expect([conditionText(bed, 'BackupReady'), upkeepOf(bed)]).toEqual(['False BackupFailed', undefined]);
    await bed.advance(300_000);
    expect([count(bed, 'backup ci'), conditionText(bed, 'BackupReady')]).toEqual([1, 'True Recent']);
  });

  it('HOS-32 are restored once, and taken once, after a crash at any write', async () => {
    const hosting = { current: withStored() };
    const limits = { maxClusters: 20, maxAgeSeconds: 691_200, grants: memoryGrants({ now: () => NOW }) };
    const etcd = { ...HOSTED.etcd, restoreFrom: 'latest', backup: { everySeconds: 3600, keep: 7 } };
    const writes = await sweepCrashes(
      {
        controllers: () => [createHostingController({ ...hosting.current, ...limits })],
        kinds: KINDS,
        objects: [applied({ hosted: { etcd } })],
      },
      (bed, crash) => {
        expect([crash, conditionText(bed, 'BackupReady')]).toEqual([crash, 'True Recent']);
        const done = hosting.current.log.filter((line) => /^(restore|backup|start ci etcd)/.test(line));
        expect([crash, ...done]).toEqual([
          crash,
          'restore ci 000001-20200101T000000Z',
          'start ci etcd',
          'backup ci',
        ]);
        hosting.current = withStored();
      },
    );
    expect(writes).toBeGreaterThan(5);
  });
});
