/** The address for other machines: recorded before gateways start, and those with another port end before that. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import {
  GATEWAYS,
  isGateway,
  type OutsideAddress,
  type PlaneDriver,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { findFreePort } from '../../../../src/os/net/ports.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';

const plane = planeSpec();
const HOST = 'ci.example.com';
const { signal } = new AbortController();

function all(state: string): readonly string[] {
  return GATEWAYS.map((member) => `${member} ${state}`);
}

export function describeExposure(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`the exposure: ${name}`, () => {
    let bed: DriverBed;
    let driver: PlaneDriver;
    let outside: OutsideAddress;

    beforeEach(async () => {
      bed = await open();
      driver = bed.driver;
      outside = { host: HOST, port: await findFreePort() };
    });
    afterEach(async () => {
      for (const member of GATEWAYS) await driver.stop(plane, member).catch(() => undefined);
      await bed.close();
    });

    /** `kubenode-gateway Stopped`, in their order. */
    const gateways = async (by = driver): Promise<readonly string[]> => {
      const { members } = await by.observe(plane, signal);
      return members
        .filter(({ member }) => isGateway(member))
        .map(({ member, state }) => `${member} ${state}`);
    };
    const recorded = async (by = driver): Promise<OutsideAddress | undefined> =>
      (await by.observe(plane, signal)).outside;
    const start = async (): Promise<void> => {
      for (const member of GATEWAYS) await driver.start(plane, member);
      await expect.poll(() => gateways(), ANSWER).toEqual(all('Ready'));
    };

    test('HOS-41 is that with which it was created, and the next process finds it', async () => {
      await driver.prepare({ ...plane, outside });
      const next = await bed.reopen();
      expect([await recorded(next), await gateways(next)]).toEqual([outside, all('Stopped')]);
    });

    test('HOS-41 is not there without a host in the spec, and is added and removed', async () => {
      await driver.prepare(plane);
      expect([await recorded(), await gateways()]).toEqual([undefined, []]);
      for (const _ of [1, 2]) await driver.setOutside?.(plane, outside);
      expect([await recorded(), await gateways()]).toEqual([outside, all('Stopped')]);
      await driver.setOutside?.(plane, undefined);
      expect([await recorded(await bed.reopen()), await gateways()]).toEqual([undefined, []]);
    });

    test('HOS-41 gets another name while its gateways run, and ends them for another port, or none', async () => {
      await driver.prepare({ ...plane, outside });
      await start();
      const renamed = { ...outside, host: 'b.example.com' };
      await driver.setOutside?.(plane, renamed);
      expect([await recorded(), await gateways()]).toEqual([renamed, all('Ready')]);
      const moved = { host: HOST, port: await findFreePort() };
      await driver.setOutside?.(plane, moved);
      expect([await recorded(), await gateways()]).toEqual([moved, all('Stopped')]);
      await start();
      await driver.setOutside?.(plane, undefined);
      expect([await recorded(), await gateways()]).toEqual([undefined, []]);
    });

    test('HOS-41 is not changed for another Cluster, nor while the control plane is being destroyed', async () => {
      await driver.prepare(plane);
      const other = { ...plane, uid: 'another-uid' };
      await expect(driver.setOutside?.(other, outside)).rejects.toThrow('another Cluster');
      await driver.beginDestroy(plane);
      await driver.setOutside?.(plane, outside);
      expect(await recorded()).toBeUndefined();
    });
  });
}
