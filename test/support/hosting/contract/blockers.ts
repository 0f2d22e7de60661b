/** Faults that end as a condition with an object and the way on. Nothing is lost meanwhile. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlaneDriver } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { ago } from '../../builders.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { endOf } from './steps.ts';

const plane = planeSpec();
const GOES_ON = 'Start kube-apiserver: it is not running';

export function describeBlockers(name: string, open: OpenBed, traits: DriverTraits): void {
  const { hasProcesses } = traits;
  const test = casesOf(traits);
  describe(`a blocked control plane: ${name}`, () => {
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

    const location = async (): Promise<string> =>
      (await driver.observe(plane, new AbortController().signal)).location;
    /** As of a Cluster whose control plane was ready. */
    const endWith = (hosted: object, by = driver): Promise<string> =>
      endOf(by, plane, { status: { conditions: [], hosted }, input: { now: bed.now() } });
    /** As of a Cluster whose control plane was ready. */
    const end = (): Promise<string> => endWith({ readyAt: ago(60), location: place });
    const endOfNew = (by = driver): Promise<string> => endWith({ location: place }, by);
    let place = '';

    beforeEach(async () => {
      place = await location();
    });

    async function ranOnce(): Promise<void> {
      expect(await endOfNew()).toBe(GOES_ON);
      await driver.stop(plane, 'etcd');
    }

    test.runIf(hasProcesses)(
      'HOS-06 waits for a port that another program uses, and goes on when it is free',
      async () => {
        await driver.prepare(plane);
        const release = await bed.faults.takePort();
        expect(await endOfNew()).toMatch(/^True PortInUse of 127\.0\.0\.1:\d+: .*in use.*stop that program/);
        await release();
        expect(await endOfNew()).toBe(GOES_ON);
      },
    );

    test.runIf(hasProcesses)('HOS-06 waits for a full disk, and keeps what is there', async () => {
      await driver.prepare(plane);
      const access = await driver.access(plane);
      await bed.faults.damageCertificate('etcd');
      const full = await bed.reopen({ isDiskFull: true });
      expect(await endOfNew(full)).toMatch(/^True DiskFull of .+: the disk is full.*free some space/);
      expect(await driver.access(plane)).toEqual(access);
      expect(await endOfNew()).toBe(GOES_ON);
    });

    test('HOS-06 creates nothing where the programs are missing, and names why', async () => {
      const without = await bed.reopen({ programs: new Error('no network') });
      expect(await endOfNew(without)).toMatch(/^True ProgramsMissing of kube-apiserver: .*no network/);
      expect(await driver.access(plane)).toBeUndefined();
    });

    test('HOS-06 creates nothing with programs of another version, and names it', async () => {
      const other = await bed.reopen({ programs: 'v1.30.0' });
      expect(await endOfNew(other)).toMatch(
        /^True VersionNotAvailable of kube-apiserver: .*v1\.30\.0.*set spec/,
      );
      expect(await driver.access(plane)).toBeUndefined();
    });

    test('HOS-06 leaves the place of another Cluster alone, and names it', async () => {
      const other = planeSpec('ci', 'another-uid');
      await driver.prepare(other);
      const access = await driver.access(other);
      const refused = hasProcesses
        ? /^True FolderNotOurs of .+: .*another Cluster.*move the folder away/
        : /^True NamespaceNotOurs of .+: .*another Cluster.*delete it/;
      expect(await endOfNew()).toMatch(refused);
      expect(await driver.access(other)).toEqual(access);
    });

    test('HOS-06 reports a damaged record, and replaces nothing', async () => {
      await driver.prepare(plane);
      await bed.faults.damageRecord();
      expect(await endWith({})).toMatch(/^True CorruptRecord of .+: .*restore it from a backup/);
      await expect(driver.prepare(plane)).rejects.toMatchObject({ code: 'CorruptRecord' });
      await expect(driver.remove(plane)).rejects.toMatchObject({ code: 'CorruptRecord' });
    });

    test('HOS-06 makes no other control plane where one was ready and its folder was wiped', async () => {
      await ranOnce();
      await bed.faults.wipeFolder();
      expect(await end()).toMatch(
        hasProcesses
          ? /^True ControlPlaneMissing of .+: .*restore the folder/
          : /^True ControlPlaneMissing of .+: .*restore the namespace/,
      );
      expect(await driver.access(plane)).toBeUndefined();
    });

    test('HOS-06 starts no empty etcd where one had data, and reports it', async () => {
      await ranOnce();
      await bed.faults.wipeData();
      expect(await end()).toMatch(/^True DataMissing of .+: etcd had data .*restore it/);
      const report = await driver.observe(plane, new AbortController().signal);
      expect([report.data, report.members[0]?.state]).toEqual(['Empty', 'Stopped']);
    });

    test('HOS-06 never starts etcd on the data of another Cluster', async () => {
      await ranOnce();
      await bed.faults.bringData();
      expect(await end()).toMatch(/^True DataNotOurs of .+: .*another control plane.*restore/);
      await expect(driver.start(plane, 'etcd')).rejects.toMatchObject({ code: 'DataNotOurs' });
      await driver.prepare(plane);
      expect((await driver.observe(plane, new AbortController().signal)).data).toBe('Other');
    });

    it.each(test.of(['etcd-ca', 'ca', 'front-proxy-ca', 'service-accounts'] as const))(
      'HOS-06 makes no other key where %s is lost, and goes on when it is restored',
      async (key) => {
        await driver.prepare(plane);
        const access = await driver.access(plane);
        const restore = await bed.faults.loseKey(key);
        expect(await end()).toMatch(/^True KeysLost of .+: .*is missing or damaged.*restore these files/);
        await expect(driver.prepare(plane)).rejects.toMatchObject({ code: 'KeysLost' });
        await expect(driver.start(plane, 'etcd')).rejects.toMatchObject({ code: 'KeysLost' });
        await restore();
        await driver.prepare(plane);
        expect(await driver.access(plane)).toEqual(access);
      },
    );

    it.each(test.of(['etcd-ca', 'ca', 'front-proxy-ca', 'service-accounts'] as const))(
      'HOS-06 uses no other key that somebody puts in the place of %s',
      async (key) => {
        await driver.prepare(plane);
        await bed.faults.replaceKey(key);
        expect(await end()).toMatch(/^True KeysLost of .+: .*is not the key that it was made with/);
        await expect(driver.prepare(plane)).rejects.toMatchObject({ code: 'KeysLost' });
      },
    );

    test.runIf(hasProcesses)(
      'HOS-06 starts a member that dies at most three times, and shows the end of its log',
      async () => {
        await driver.prepare(plane);
        const repair = await bed.faults.breakEtcd();
        const text = await endOfNew();
        expect(text).toMatch(
          /^True MemberCrashes of etcd: etcd ended 3 times within 5 minutes.*Read its log in .+\n.+/s,
        );
        const [etcd] = (await driver.observe(plane, new AbortController().signal)).members;
        expect(etcd?.starts).toHaveLength(3);
        expect(etcd?.logTail ?? '').not.toBe('');
        await repair();
        await driver.start(plane, 'etcd');
      },
    );

    test('HOS-06 leaves a control plane alone that another hosting created, and names the place', async () => {
      const text = await endWith({ location: 'far away:/hosting/clusters/ci' });
      expect(text).toMatch(
        /^True HostedElsewhere of far away.*: its control plane is at far away.*start hosting there/,
      );
      expect(await driver.access(plane)).toBeUndefined();
    });
  });
}
