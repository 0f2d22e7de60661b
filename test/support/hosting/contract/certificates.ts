/** Keys and certificates of a control plane: keys are made once, certificates are renewed in time, and others read neither. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  MemberReport,
  PlaneCertificate,
  PlaneDriver,
  PlaneReport,
} from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';

const plane = planeSpec();
const { signal } = new AbortController();

export function describeCertificates(name: string, open: OpenBed, traits: DriverTraits): void {
  const { hasProcesses } = traits;
  const test = casesOf(traits);
  describe(`the certificates of a control plane: ${name}`, () => {
    let bed: DriverBed;
    let driver: PlaneDriver;

    beforeEach(async () => {
      bed = await open();
      driver = bed.driver;
      // So that what is renewed is valid now.
      bed.travel(-300);
      await driver.prepare(plane);
    });
    afterEach(async () => {
      await driver.stop(plane, 'etcd').catch(() => undefined);
      await bed.close();
    });

    const observe = (): Promise<PlaneReport> => driver.observe(plane, signal);
    const due = async (): Promise<readonly string[]> =>
      (await observe()).certificates.flatMap((each) => (each.due === undefined ? [] : [each.name]));
    const named = async (which: string): Promise<PlaneCertificate | undefined> =>
      (await observe()).certificates.find((each) => each.name === which);
    const served = async (): Promise<MemberReport['certificate']> =>
      (await observe()).members[0]?.certificate;

    test('lists each certificate with its end, and none is due', async () => {
      const { certificates } = await observe();
      const names = certificates.map((each) => each.name);
      expect(names).toEqual(expect.arrayContaining(['etcd', 'apiserver', 'admin', 'sync', 'ca']));
      expect(new Set(names).size).toBe(names.length);
      expect(certificates.filter(({ notAfter }) => notAfter === undefined)).toEqual([]);
      expect(await due()).toEqual([]);
    });

    test('says which member serves which certificate, and when each is renewed', async () => {
      expect((await named('etcd'))?.servedBy).toContain('etcd');
      expect((await named('apiserver'))?.servedBy).toContain('kube-apiserver');
      const { renewAt, notAfter } = (await named('sync')) ?? {};
      expect(Number(renewAt)).toBeLessThan(Number(notAfter));
      expect((await named('ca'))?.renewAt).toBeUndefined();
    });

    test('HOS-21 finds none due before 70 % of its life, and all after it', async () => {
      bed.travel(-300 + 255);
      expect(await due()).toEqual([]);
      bed.travel(-300 + 256);
      expect(await due()).toEqual(expect.arrayContaining(['etcd', 'apiserver', 'admin', 'sync']));
      expect(await due()).not.toContain('ca');
    });

    test('HOS-21 renews what is due once, and nothing after it', async () => {
      const before = await driver.access(plane);
      bed.travel(0);
      await driver.prepare(plane);
      const after = await driver.access(plane);
      expect([after?.sync === before?.sync, await due()]).toEqual([false, []]);
      await driver.prepare(plane);
      await (await bed.reopen()).prepare(plane);
      expect(await driver.access(plane)).toEqual(after);
    });

    test('HOS-21 lets a member that runs serve the new certificate, without a restart', async () => {
      await driver.start(plane, 'etcd');
      await expect.poll(async () => (await served())?.serial, ANSWER).toBeDefined();
      const [before, identity] = [await served(), (await observe()).members[0]?.identity];
      bed.travel(0);
      await driver.prepare(plane);
      const serves = async (): Promise<boolean> => {
        const now = await served();
        return now !== undefined && now.serial === now.expectedSerial;
      };
      await expect.poll(serves, ANSWER).toBe(true);
      expect((await served())?.serial).not.toBe(before?.serial);
      expect((await observe()).members[0]?.identity).toBe(identity);
    });

    it.each(test.of(['etcd', 'apiserver', 'sync', 'admin'] as const))(
      'makes %s again that somebody damaged, and only that',
      async (leaf) => {
        const others = (await observe()).certificates.filter((each) => each.name !== leaf);
        await bed.faults.damageCertificate(leaf);
        expect([await due(), (await named(leaf))?.due]).toEqual([[leaf], 'it is damaged']);
        await driver.prepare(plane);
        expect(await due()).toEqual([]);
        expect((await observe()).certificates.filter((each) => each.name !== leaf)).toEqual(others);
      },
    );

    it.each(test.of(['etcd', 'apiserver', 'sync', 'admin'] as const))(
      'makes %s again that another CA signed',
      async (leaf) => {
        await bed.faults.forgeCertificate(leaf);
        expect([await due(), (await named(leaf))?.due]).toEqual([[leaf], 'it is signed by another CA']);
        await driver.prepare(plane);
        expect(await due()).toEqual([]);
      },
    );

    test.runIf(hasProcesses)(
      'HOS-20 is private: others read nothing, also after somebody let them',
      async () => {
        expect(await bed.faults.openEntries()).toEqual([]);
        await bed.faults.openRights();
        expect(await bed.faults.openEntries()).not.toEqual([]);
        expect((await observe()).isPrepared).toBe(false);
        await driver.prepare(plane);
        expect([await bed.faults.openEntries(), (await observe()).isPrepared]).toEqual([[], true]);
      },
    );

    test('has the same keys for two controllers that prepare at once', async () => {
      await driver.remove(plane);
      const second = await bed.reopen();
      await Promise.all([driver.prepare(plane), second.prepare(plane)]);
      expect(await driver.access(plane)).toEqual(await second.access(plane));
      expect(await observe()).toMatchObject({ isPrepared: true, lostKeys: [] });
    });

    test('loses no key by being prepared, started, stopped and observed', async () => {
      await driver.start(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      await driver.prepare(plane);
      expect((await observe()).lostKeys).toEqual([]);
    });
  });
}
