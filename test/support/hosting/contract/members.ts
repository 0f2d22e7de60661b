/** Members of a control plane: each is one process, which outlives the driver and is found again. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { MemberReport, PlaneDriver } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';

const plane = planeSpec();
const { signal } = new AbortController();
const LOG_BYTES = 16 * 1024 ** 2;

export function describeMembers(name: string, open: OpenBed, traits: DriverTraits): void {
  const { hasProcesses } = traits;
  const test = casesOf(traits);
  describe(`the members of a control plane: ${name}`, () => {
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

    const etcd = async (by = driver): Promise<MemberReport | undefined> =>
      (await by.observe(plane, signal)).members.find(({ member }) => member === 'etcd');
    /** A pod has none before the hub has made it. */
    const identity = async (by = driver): Promise<string> => {
      const found = async (): Promise<string | undefined> => (await etcd(by))?.identity;
      await expect.poll(found, ANSWER).toBeDefined();
      return (await found()) ?? '';
    };
    const state = async (by = driver): Promise<string | undefined> => (await etcd(by))?.state;

    test('has no identity while it is stopped', async () => {
      expect((await etcd())?.identity).toBeUndefined();
    });

    test('is adopted by the next process of hosting, with its pid, start and flags', async () => {
      await driver.start(plane, 'etcd');
      const before = await identity();
      const next = await bed.reopen();
      await next.start(plane, 'etcd');
      expect(await identity(next)).toBe(before);
    });

    test('has another identity after a restart', async () => {
      await driver.start(plane, 'etcd');
      const before = await identity();
      await driver.stop(plane, 'etcd');
      await driver.start(plane, 'etcd');
      expect(await identity()).not.toBe(before);
    });

    test('is started once by two controllers at once', async () => {
      const second = await bed.reopen();
      await Promise.all([driver.start(plane, 'etcd'), second.start(plane, 'etcd')]);
      const [one, two] = [await identity(), await identity(second)];
      expect([(await etcd())?.starts.length, one]).toEqual([1, two]);
    });

    test.runIf(hasProcesses)('is reported as stopped after it was killed, and is started again', async () => {
      await driver.start(plane, 'etcd');
      await expect.poll(() => state(), ANSWER).toBe('Ready');
      await bed.faults.kill('etcd');
      await expect.poll(() => state(), ANSWER).toBe('Stopped');
      await driver.start(plane, 'etcd');
      await expect.poll(() => state(), ANSWER).toBe('Ready');
      expect((await etcd())?.starts).toHaveLength(2);
    });

    test.runIf(!hasProcesses)(
      'comes back after it was killed, as another one, and counts as started once',
      async () => {
        await driver.start(plane, 'etcd');
        await expect.poll(() => state(), ANSWER).toBe('Ready');
        const before = await identity();
        await bed.faults.kill('etcd');
        await expect.poll(() => identity(), ANSWER).not.toBe(before);
        await expect.poll(() => state(), ANSWER).toBe('Ready');
        await driver.start(plane, 'etcd');
        expect((await etcd())?.starts).toHaveLength(1);
      },
    );

    test('keeps its data over a crash and a restart', async () => {
      await driver.start(plane, 'etcd');
      await expect.poll(() => state(), ANSWER).toBe('Ready');
      await bed.faults.kill('etcd');
      expect((await driver.observe(plane, signal)).data).toBe('Own');
      await driver.start(plane, 'etcd');
      await expect.poll(() => state(), ANSWER).toBe('Ready');
      expect((await driver.observe(plane, signal)).data).toBe('Own');
    });

    test('has no data before it was started', async () => {
      expect((await driver.observe(plane, signal)).data).toBe('Empty');
    });

    test('has no log before it was started', async () => {
      expect((await etcd())?.logTail).toBeUndefined();
    });

    test.runIf(hasProcesses)('has the end of its log when it is stopped', async () => {
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      expect((await etcd())?.logTail).toBeTypeOf('string');
    });

    test.runIf(hasProcesses)('has a log that is bounded', async () => {
      await driver.start(plane, 'etcd');
      await bed.faults.growLog();
      expect(await bed.faults.logBytes()).toBeGreaterThan(LOG_BYTES);
      await etcd();
      expect(await bed.faults.logBytes()).toBeLessThan(LOG_BYTES);
    });

    test('ends alone: another process that looks like it runs on', async () => {
      const runs = await bed.faults.impersonate();
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      expect([await state(), runs()]).toEqual(['Stopped', true]);
    });

    test('is not stopped for a stop of another member', async () => {
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'kube-apiserver');
      expect(await state()).not.toBe('Stopped');
    });

    test('starts from the same keys and port as before', async () => {
      const before = await driver.access(plane);
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      await driver.start(plane, 'etcd');
      await expect.poll(() => state(), ANSWER).toBe('Ready');
      expect(await driver.access(plane)).toEqual(before);
    });

    test('is not stopped by an observation or a preparation of another process', async () => {
      await driver.start(plane, 'etcd');
      const before = await identity();
      const next = await bed.reopen();
      await next.observe(plane, signal);
      await next.prepare(plane);
      expect(await identity()).toBe(before);
    });
  });
}
