/** The operations of a driver: each is idempotent, and takes away only what is its own. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type {
  PlaneDriver,
  PlaneReport,
  PlaneSpec,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';

const ANSWER = { interval: 100 };

export function describeBasics(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`a driver of control planes: ${name}`, () => {
    const { signal } = new AbortController();
    const plane = planeSpec();
    const other = planeSpec('ci', 'another-uid');
    let bed: DriverBed;
    let driver: PlaneDriver;

    beforeEach(async () => {
      bed = await open();
      driver = bed.driver;
    });
    afterEach(async () => {
      await driver.stop(plane, 'etcd').catch(() => undefined);
      await bed.close();
    });

    const observe = (spec: PlaneSpec = plane, by = driver): Promise<PlaneReport> => by.observe(spec, signal);
    const etcd = async (by = driver): Promise<string | undefined> =>
      (await observe(plane, by)).members.find(({ member }) => member === 'etcd')?.state;

    test('finds nothing before it is prepared, and lists all members as stopped', async () => {
      const report = await observe();
      expect(report).toMatchObject({ claim: 'None', isPrepared: false, isDestroying: false });
      expect(report.members.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'Stopped'));
      expect(await driver.access(plane)).toBeUndefined();
    });

    test('makes keys once, however often it is prepared', async () => {
      await driver.prepare(plane);
      const first = await driver.access(plane);
      await driver.prepare(plane);
      await (await bed.reopen()).prepare(plane);
      expect(first).toBeDefined();
      expect(await driver.access(plane)).toEqual(first);
      expect(await observe()).toMatchObject({ claim: 'Own', isPrepared: true, differences: [] });
    });

    test('starts a member once, records the start, and leaves the member to the next process', async () => {
      await driver.prepare(plane);
      await driver.start(plane, 'etcd');
      await driver.start(plane, 'etcd');
      await expect.poll(() => etcd(), ANSWER).toBe('Ready');
      const next = await bed.reopen();
      await expect.poll(() => etcd(next), ANSWER).toBe('Ready');
      await next.start(plane, 'etcd');
      const [member] = (await observe(plane, next)).members;
      expect(member?.starts).toHaveLength(1);
      expect(member?.certificate?.serial).toBe(member?.certificate?.expectedSerial);
    });

    test('stops a member, however often it is asked to', async () => {
      await driver.prepare(plane);
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      expect(await etcd()).toBe('Stopped');
    });

    test('gives another Cluster of the same name nothing, and takes nothing away', async () => {
      await driver.prepare(plane);
      await driver.start(plane, 'etcd');
      expect(await observe(other)).toMatchObject({ claim: 'Other', isPrepared: false, isDestroying: false });
      expect(await driver.access(other)).toBeUndefined();
      await expect(driver.prepare(other)).rejects.toThrow('another Cluster');
      await expect(driver.start(other, 'etcd')).rejects.toThrow('another Cluster');
      await expect(driver.stop(other, 'etcd')).rejects.toThrow('another Cluster');
      await expect(driver.beginDestroy(other)).rejects.toThrow('another Cluster');
      await expect(driver.remove(other)).rejects.toThrow('another Cluster');
      await expect.poll(() => etcd(), ANSWER).toBe('Ready');
    });

    test('starts nothing any more when the destruction was begun', async () => {
      await driver.prepare(plane);
      await driver.beginDestroy(plane);
      await driver.beginDestroy(plane);
      expect(await observe(plane, await bed.reopen())).toMatchObject({ isDestroying: true });
      await driver.start(plane, 'etcd');
      expect(await etcd()).toBe('Stopped');
    });

    test('keeps a destruction that was begun, also when it is prepared again', async () => {
      await driver.prepare(plane);
      const access = await driver.access(plane);
      await driver.beginDestroy(plane);
      await (await bed.reopen()).prepare(plane);
      expect(await observe()).toMatchObject({ claim: 'Own', isDestroying: true });
      expect(await driver.access(plane)).toEqual(access);
      await driver.remove(plane);
      await driver.prepare(plane);
      expect(await observe()).toMatchObject({ claim: 'Own', isPrepared: true, isDestroying: false });
      await driver.remove(plane);
    });

    test('gives each Cluster a control plane of its own, and removes only that', async () => {
      const neighbor = planeSpec('ci-2');
      await driver.prepare(plane);
      await driver.prepare(neighbor);
      const [first, second] = [await driver.access(plane), await driver.access(neighbor)];
      expect(first?.sync).not.toBe(second?.sync);
      await driver.start(plane, 'etcd');
      const [member] = (await observe(neighbor)).members;
      expect([member?.state, member?.starts]).toEqual(['Stopped', []]);
      await driver.stop(neighbor, 'etcd');
      await driver.beginDestroy(neighbor);
      await driver.remove(neighbor);
      expect(await observe()).toMatchObject({ claim: 'Own', isDestroying: false });
      expect(await driver.access(plane)).toEqual(first);
      await expect.poll(() => etcd(), ANSWER).toBe('Ready');
    });

    test('records each start of a member that was stopped, oldest first', async () => {
      await driver.prepare(plane);
      await driver.start(plane, 'etcd');
      await (await bed.reopen()).stop(plane, 'etcd');
      await (await bed.reopen()).start(plane, 'etcd');
      const [member] = (await observe()).members;
      const times = (member?.starts ?? []).map(Number);
      expect(times).toHaveLength(2);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
    });

    test('changes nothing by observing, and names the same location each time', async () => {
      const before = await observe();
      expect(await observe(plane, await bed.reopen())).toMatchObject({
        claim: 'None',
        location: before.location,
      });
      await driver.prepare(plane);
      expect((await observe()).location).toBe(before.location);
      expect((await observe(planeSpec('ci-2'))).location).not.toBe(before.location);
      await driver.remove(plane);
    });

    test('removes nothing while a member runs, and everything after it, however often it is asked to', async () => {
      await driver.prepare(plane);
      await driver.start(plane, 'etcd');
      await expect(driver.remove(plane)).rejects.toMatchObject({ code: 'NotStopped' });
      await driver.stop(plane, 'etcd');
      await driver.remove(plane);
      await driver.remove(plane);
      expect(await observe()).toMatchObject({ claim: 'None', isPrepared: false });
      expect(await driver.access(plane)).toBeUndefined();
    });

    test('makes other keys for the next Cluster of the same name', async () => {
      await driver.prepare(plane);
      const before = await driver.access(plane);
      await driver.remove(plane);
      await driver.prepare(other);
      expect((await driver.access(other))?.sync).not.toBe(before?.sync);
      await driver.remove(other);
    });

    test('refuses to start a member that is not prepared, and stops and removes what is not there', async () => {
      await expect(driver.start(plane, 'etcd')).rejects.toThrow(/prepared|belongs/);
      await driver.stop(plane, 'etcd');
      await driver.beginDestroy(plane);
      await driver.remove(plane);
    });

    test('reports a version that differs from the one that it was created with', async () => {
      await driver.prepare(plane);
      const changed = { ...plane, version: 'v1.99.0' };
      await driver.prepare(changed);
      expect((await observe(changed)).differences).toHaveLength(1);
      expect((await observe(changed)).settled?.version).toBe(plane.version);
    });
  });
}
