/** The rotation of the authorities of a control plane, as every driver carries it out: its phases, its return, and what agents are to follow. */
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { PlaneDriver, PlaneReport } from '../../../../src/controllers/hosting/drivers/driver.ts';
import type { RotationStep } from '../../../../src/controllers/hosting/drivers/rotation.ts';
import { planeSpec } from '../objects.ts';
import { casesOf } from './cases.ts';
import type { DriverBed, DriverTraits, OpenBed } from './faults.ts';
import { ANSWER } from './steps.ts';

type Phase = RotationStep['phase'];

const plane = planeSpec();
const { signal } = new AbortController();
const ID = '2026';
const FORWARD = ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew'] as const;

export function describeRotation(name: string, open: OpenBed, traits: DriverTraits): void {
  const test = casesOf(traits);
  describe(`the rotation of the authorities of a control plane: ${name}`, () => {
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

    const observe = (): Promise<PlaneReport> => driver.observe(plane, signal);
    const behind = async (): Promise<readonly string[]> => (await observe()).rotation?.behind ?? ['etcd'];
    const syncAccess = async (): Promise<string | undefined> => (await driver.access(plane))?.sync;
    const state = async (): Promise<readonly unknown[]> => {
      const { rotation, lostKeys, isPrepared, certificates } = await observe();
      const due = certificates.flatMap((each) => (each.due === undefined ? [] : [each.name]));
      return [rotation?.phase, rotation?.isApplied, isPrepared, ...lostKeys, ...due];
    };

    async function rotate(...phases: readonly Phase[]): Promise<void> {
      for (const phase of phases) await driver.rotate?.(plane, { id: ID, phase });
    }

    /** As hosting does: a pod is replaced, a process ends and is started. */
    async function startAgain(): Promise<void> {
      if (driver.restart) return await driver.restart(plane, 'etcd');
      await driver.stop(plane, 'etcd');
      await driver.start(plane, 'etcd');
    }

    test('HOS-22 goes through its phases with keys and certificates that are complete in each', async () => {
      const found: (string | undefined)[] = [await syncAccess()];
      for (const phase of FORWARD) {
        await rotate(phase);
        expect(await state()).toEqual([phase, true, true]);
        found.push(await syncAccess());
      }
      // Sync gets another kubeconfig when both are trusted, when the new ones issue, and when only they are trusted.
      expect(found.map((each, index) => each === found[index - 1])).toEqual([
        false,
        false,
        false,
        true,
        false,
      ]);
      await rotate('Completed');
      expect((await state()).slice(0, 3)).toEqual(['Completed', expect.anything(), true]);
      expect(await syncAccess()).toBe(found.at(-1));
    });

    test('HOS-22 is forgotten when it is taken back, and another one begins with other keys', async () => {
      await rotate('TrustBoth');
      const before = await syncAccess();
      await rotate('TrustOld', 'Aborted');
      expect(await state()).toEqual([undefined, undefined, true]);
      await rotate('TrustBoth');
      expect([await state(), (await syncAccess()) === before]).toEqual([['TrustBoth', true, true], false]);
    });

    test('HOS-22 changes nothing when the next process asks for the same phase again', async () => {
      await rotate('TrustBoth', 'IssueNew');
      const before = await driver.access(plane);
      await (await bed.reopen()).rotate?.(plane, { id: ID, phase: 'IssueNew' });
      expect([await state(), await driver.access(plane)]).toEqual([['IssueNew', true, true], before]);
    });

    test('HOS-22 counts a member that runs as behind until it is started again', async () => {
      await driver.start(plane, 'etcd');
      await rotate('TrustBoth');
      expect(await behind()).toContain('etcd');
      await startAgain();
      await expect.poll(behind, ANSWER).not.toContain('etcd');
      await rotate('IssueNew');
      expect(await behind()).toContain('etcd');
    });

    test('HOS-22 signs each phase once, in an order that never gets smaller', async () => {
      const orders: number[] = [];
      for (const phase of FORWARD) {
        await rotate(phase);
        const signed = await driver.signAuthorities?.(plane, { reported: [] });
        expect(await driver.signAuthorities?.(plane, { reported: [] })).toEqual(signed);
        expect((await observe()).authorities).toMatchObject({ document: signed?.document });
        orders.push((JSON.parse(signed?.document ?? '{}') as { order: number }).order);
      }
      expect(orders).toEqual([1, 2, 3, 4]);
    });

    test('HOS-22 is not begun while the control plane is destroyed', async () => {
      await driver.beginDestroy(plane);
      await rotate('TrustBoth');
      expect((await observe()).rotation).toBeUndefined();
    });
  });
}
