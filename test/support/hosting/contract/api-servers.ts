/** The number of API servers: each is a member of its own, which is counted before it is started and until it was stopped. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import {
  API_SERVERS,
  isApiServer,
  type PlaneDriver,
  type PlaneSpec,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';

const plane = planeSpec();
const two: PlaneSpec = { ...plane, apiServers: 2 };
const { signal } = new AbortController();

function stopped(count: number): readonly string[] {
  return API_SERVERS.slice(0, count).map((member) => `${member} Stopped`);
}

export function describeApiServers(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`the number of API servers: ${name}`, () => {
    let bed: DriverBed;
    let driver: PlaneDriver;

    beforeEach(async () => {
      bed = await open();
      driver = bed.driver;
    });
    afterEach(async () => {
      for (const member of [...API_SERVERS, 'etcd'] as const) {
        await driver.stop(plane, member).catch(() => undefined);
      }
      await bed.close();
    });

    /** `kube-apiserver Stopped`, in their order. */
    const servers = async (by = driver): Promise<readonly string[]> => {
      const { members } = await by.observe(plane, signal);
      return members
        .filter(({ member }) => isApiServer(member))
        .map(({ member, state }) => `${member} ${state}`);
    };
    const startEtcd = async (): Promise<void> => {
      await driver.start(plane, 'etcd');
      const state = async (): Promise<string | undefined> =>
        (await driver.observe(plane, signal)).members.find(({ member }) => member === 'etcd')?.state;
      await expect.poll(state, ANSWER).toBe('Ready');
    };
    const isRunning = async (member: string): Promise<boolean> => {
      const found = await servers();
      return found.some((text) => text.startsWith(`${member} `) && !text.endsWith(' Stopped'));
    };

    test('HOS-13 is that with which it was created, and the next process finds it', async () => {
      await driver.prepare(two);
      expect(await servers()).toEqual(stopped(2));
      expect(await servers(await bed.reopen())).toEqual(stopped(2));
    });

    test('HOS-13 grows and gets smaller, and each that is counted again is a new one', async () => {
      await driver.prepare(plane);
      expect(await servers()).toEqual(stopped(1));
      for (const count of [3, 3, 1, 2]) {
        await driver.setApiServers(plane, count);
        expect(await servers(await bed.reopen())).toEqual(stopped(count));
      }
    });

    test('HOS-13 does not get smaller by one that runs, and the others go on', async () => {
      await driver.prepare(two);
      await startEtcd();
      await driver.start(two, 'kube-apiserver');
      await driver.start(two, 'kube-apiserver-1');
      await expect.poll(() => isRunning('kube-apiserver-1'), ANSWER).toBe(true);
      await expect(driver.setApiServers(plane, 1)).rejects.toMatchObject({ code: 'NotStopped' });
      await driver.stop(plane, 'kube-apiserver-1');
      expect(await isRunning('kube-apiserver')).toBe(true);
      await driver.setApiServers(plane, 1);
      expect(await servers()).toHaveLength(1);
    });

    test('HOS-13 is not changed for another Cluster, nor while the control plane is being destroyed', async () => {
      await driver.prepare(two);
      const other = { ...plane, uid: 'another-uid' };
      await expect(driver.setApiServers(other, 3)).rejects.toThrow('another Cluster');
      await driver.beginDestroy(plane);
      await driver.setApiServers(plane, 3).catch(() => undefined);
      expect(await servers()).toEqual(stopped(2));
    });
  });
}
