/** Changes of what a member runs with: each is recorded before the act, done once, and found by the next process of hosting. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type {
  MemberReport,
  MemberRun,
  PlaneDriver,
  PlaneReport,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { ETCD_QUOTA, memberRuns } from '../../../../src/controllers/hosting/drivers/runs.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';
import { takeSnapshot } from './take-snapshot.ts';

const plane = planeSpec();
const { signal } = new AbortController();
const QUOTA_MIB = 1024;

export function describeChanges(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`changes of a member: ${name}`, () => {
    let bed: DriverBed;
    let driver: PlaneDriver;

    beforeEach(async () => {
      bed = await open();
      driver = bed.driver;
      await driver.prepare(plane);
    });
    afterEach(async () => {
      await driver.stop(plane, 'etcd').catch(() => undefined);
      await bed.close();
    });

    const observe = (by = driver): Promise<PlaneReport> => by.observe(plane, signal);
    const etcd = async (by = driver): Promise<MemberReport | undefined> =>
      (await observe(by)).members.find(({ member }) => member === 'etcd');
    const state = async (by = driver): Promise<string | undefined> => (await etcd(by))?.state;
    /** Resolves to the run that etcd has, with another quota. */
    const otherRun = async (): Promise<MemberRun> => {
      const before = (await etcd())?.run;
      return { ...before, flags: { ...before?.flags, [ETCD_QUOTA]: String(QUOTA_MIB * 1024 ** 2) } };
    };
    const startEtcd = async (by = driver): Promise<void> => {
      await by.start(plane, 'etcd');
      await expect.poll(() => state(by), ANSWER).toBe('Ready');
    };
    /** As hosting does: a member that ends for its change is started again. */
    const changeEtcd = async (run: MemberRun, by = driver): Promise<void> => {
      await by.change(plane, 'etcd', run);
      await startEtcd(by);
    };

    test('runs with what it was changed to, as another one, and keeps its data', async () => {
      await startEtcd();
      const before = (await etcd())?.identity;
      const run = await otherRun();
      await changeEtcd(run);
      const after = await etcd();
      expect(after).toMatchObject({ run, isOutdated: false, state: 'Ready' });
      expect(after?.identity).not.toBe(before);
      expect((await observe()).data).toBe('Own');
    });

    test('is found by the next process as it was changed, and is not replaced by the same change', async () => {
      await startEtcd();
      const run = await otherRun();
      await changeEtcd(run);
      const before = (await etcd())?.identity;
      const next = await bed.reopen();
      await changeEtcd(run, next);
      expect(await etcd(next)).toMatchObject({ run, isOutdated: false, identity: before });
    });

    test('HOS-31 takes a snapshot of an etcd that serves, and the next process finds it', async () => {
      await startEtcd();
      expect((await observe()).snapshotAt).toBeUndefined();
      const before = bed.now();
      await takeSnapshot(driver, plane);
      const taken = (await observe(await bed.reopen())).snapshotAt;
      expect(+(taken ?? 0)).toBeGreaterThanOrEqual(+before);
      await takeSnapshot(driver, plane);
      expect(+((await observe()).snapshotAt ?? 0)).toBeGreaterThanOrEqual(+(taken ?? 0));
      expect(await state()).toBe('Ready');
    });

    test('goes back to what it ran with before', async () => {
      await startEtcd();
      const before = (await etcd())?.run;
      await changeEtcd(await otherRun());
      await changeEtcd(before ?? { flags: {} });
      expect(await etcd()).toMatchObject({ run: before, isOutdated: false, state: 'Ready' });
    });

    test('is changed while it is stopped, and stays so until it is started', async () => {
      await startEtcd();
      await driver.stop(plane, 'etcd');
      const run = await otherRun();
      await driver.change(plane, 'etcd', run);
      expect(await etcd()).toMatchObject({ run, state: 'Stopped' });
      await startEtcd();
      expect(await etcd()).toMatchObject({ run, isOutdated: false });
    });

    test('differs from its spec until the change is settled, and no longer', async () => {
      const spec = { ...plane, settings: { ...plane.settings, quotaMiB: QUOTA_MIB } };
      const differences = async (): Promise<number> =>
        (await driver.observe(spec, signal)).differences.length;
      await startEtcd();
      expect(await differences()).toBe(1);
      await changeEtcd(await otherRun());
      expect(await differences()).toBe(1);
      const { settled } = await observe();
      if (!settled) throw new Error('nothing is settled');
      const desired = { ...settled, settings: spec.settings };
      await driver.settle(plane, desired);
      await driver.settle(plane, desired);
      expect(await differences()).toBe(0);
      const next = await bed.reopen();
      expect((await observe(next)).settled).toEqual(desired);
      expect((await etcd(next))?.run?.flags).toEqual(memberRuns(desired).etcd.flags);
    });

    test('is not changed for another Cluster, nor while the control plane is being destroyed', async () => {
      await startEtcd();
      const [before, run] = [await etcd(), await otherRun()];
      await expect(driver.change({ ...plane, uid: 'another-uid' }, 'etcd', run)).rejects.toThrow(
        'another Cluster',
      );
      await driver.beginDestroy(plane);
      await driver.change(plane, 'etcd', run);
      expect(await etcd()).toMatchObject({ run: before?.run, identity: before?.identity });
    });
  });
}
