/** The backups of a driver: complete, limited in number, restored only where there is no data, and found only by a Cluster of the same name. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import {
  type BackupReport,
  INTERRUPTED,
  type PlaneSpec,
  type UpkeepControl,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planeSpec, undisturbed } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';

const ANSWER = { interval: 100 };
const { signal } = new AbortController();

export function describeBackups(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`a driver with backups: ${name}`, () => {
    const plane = planeSpec();
    let bed: DriverBed;

    beforeEach(async () => {
      bed = await open();
    });
    afterEach(async () => {
      await bed.driver.stop(plane, 'etcd').catch(() => undefined);
      await bed.close();
    });

    const report = async (spec: PlaneSpec = plane): Promise<BackupReport | undefined> =>
      (await bed.driver.observe(spec, signal)).backup;
    const names = async (): Promise<readonly string[]> =>
      ((await report())?.backups ?? []).map((each) => each.name);
    const etcd = async (): Promise<string | undefined> =>
      (await bed.driver.observe(plane, signal)).members.find(({ member }) => member === 'etcd')?.state;
    const take = async (keep = 7, request?: string, control?: UpkeepControl): Promise<void> => {
      const options = { keep, ...(request === undefined ? {} : { request }) };
      await bed.driver.backups?.take(plane, options, control ?? undisturbed());
    };
    const run = async (): Promise<void> => {
      await bed.driver.prepare(plane);
      await bed.driver.start(plane, 'etcd');
      await expect.poll(() => etcd(), ANSWER).toBe('Ready');
    };
    const recreate = async (as: PlaneSpec): Promise<void> => {
      await bed.driver.stop(plane, 'etcd');
      await bed.driver.remove(plane);
      await bed.driver.prepare(as);
    };

    test('HOS-32 takes backups in their order, and keeps the newest of them', async () => {
      await run();
      expect(await names()).toEqual([]);
      await take();
      await take(2, 'by hand');
      const [, second] = await names();
      await take(2);
      const found = (await report())?.backups ?? [];
      expect(found).toHaveLength(2);
      expect(found[0]).toMatchObject({ name: second, request: 'by hand' });
      expect(found.map((each) => each.name)).toEqual((await names()).toSorted());
      expect((await report())?.attempt?.problem).toBeUndefined();
    });

    test('HOS-32 takes the second of two backups that are asked for at once after the first', async () => {
      await run();
      await Promise.all([take(7, 'a'), take(7, 'b')]);
      expect(await names()).toHaveLength(2);
      expect((await report())?.attempt?.problem).toBeUndefined();
    });

    test('HOS-32 ends a backup that its signal aborts as one that was interrupted, and takes the next', async () => {
      await run();
      await take();
      const before = await names();
      const stop = new AbortController();
      const ended = take(1, 'ended', { signal: stop.signal, onStep: () => stop.abort() });
      await expect(ended).rejects.toThrow(/abort|no valid snapshot/);
      expect(await names()).toEqual(before);
      expect((await report())?.attempt?.problem).toBe(INTERRUPTED);
      await take();
      expect(await names()).toHaveLength(2);
      expect((await report())?.attempt?.problem).toBeUndefined();
    });

    test('HOS-32 takes no backup of a control plane that is being destroyed', async () => {
      await run();
      await bed.driver.beginDestroy(plane);
      await expect(take()).rejects.toMatchObject({ code: 'NotPrepared' });
      expect(await names()).toEqual([]);
    });

    test('HOS-32 restores a backup after its control plane was removed, and once', async () => {
      await run();
      await take();
      const [taken = ''] = await names();
      const next = { ...plane, uid: 'another-uid' };
      await recreate(next);
      await bed.driver.backups?.restore(next, 'latest');
      await bed.driver.backups?.restore(next, taken);
      expect(await report(next)).toMatchObject({ restoredFrom: taken });
      expect((await bed.driver.observe(next, signal)).data).toBe('Own');
      await bed.driver.remove(next);
    });

    test('HOS-32 refuses a backup that does not exist, and leaves the control plane without data', async () => {
      await run();
      await take();
      const next = { ...plane, uid: 'another-uid' };
      await recreate(next);
      const missing = bed.driver.backups?.restore(next, '000099-20261127T000000Z');
      await expect(missing).rejects.toMatchObject({ code: 'BackupMissing' });
      expect((await bed.driver.observe(next, signal)).data).toBe('Empty');
      await bed.driver.remove(next);
    });

    test('HOS-32 finds no backup of another Cluster', async () => {
      await run();
      await take();
      const other = planeSpec('other');
      await bed.driver.prepare(other);
      await expect(bed.driver.backups?.restore(other, 'latest')).rejects.toMatchObject({
        code: 'BackupMissing',
      });
      await bed.driver.remove(other);
    });

    test('HOS-32 replaces no data that is there', async () => {
      await run();
      await take();
      await bed.driver.backups?.restore(plane, 'latest');
      expect((await report())?.restoredFrom).toBeUndefined();
      expect(await etcd()).toBe('Ready');
    });

    test('HOS-32 records why no backup was taken on a full disk, and keeps those that exist', async () => {
      await run();
      await take();
      const full = await bed.reopen({ isDiskFull: true });
      await expect(full.backups?.take(plane, { keep: 1 }, undisturbed())).rejects.toThrow('the disk is full');
      const { backups = [], attempt } = (await report()) ?? {};
      expect(backups).toHaveLength(1);
      expect(attempt?.problem).toContain('the disk is full');
      expect(attempt?.since).toEqual(attempt?.at);
    });
  });
}
