import { describe, expect, it } from 'vitest';
import { isMachineReadDue, VERIFY_WITHIN_MS, verifyMoment } from '../../../../src/sync/apply/live/contact.ts';
import type { KindRef } from '../../../../src/sync/apply/live/ports.ts';
import { unreadMachines, WITHOUT_MACHINES } from '../../../../src/sync/health/machine-health.ts';

const MINUTE = 60_000;
const VERIFIED = { verifiedMs: 0, isInDoubt: false };

describe('verifyMoment', () => {
  it.each([
    ['not before 10 s while there is work', { nowMs: 9_999, isSettled: false }, 'Recent'],
    ['after 10 s while there is work', { nowMs: 10_000, isSettled: false }, 'Now'],
    [
      'with the first write before 45 s in a settled cluster',
      { nowMs: 44_999, isSettled: true },
      'BeforeWrite',
    ],
    ['with the first write also at once after a contact', { nowMs: 0, isSettled: true }, 'BeforeWrite'],
    ['after 45 s in a settled cluster', { nowMs: 45_000, isSettled: true }, 'Now'],
    ['at once in doubt, settled or not', { nowMs: 1, isSettled: true, isInDoubt: true }, 'Now'],
    ['before the first contact', { nowMs: 0, verifiedMs: -Infinity, isSettled: true }, 'Now'],
  ])('verifies %s', (_, state, moment) => {
    expect(verifyMoment({ ...VERIFIED, ...state })).toBe(moment);
  });

  it('S21 finds a frozen cluster within two poll intervals of 30 s, with the time limit of the question', () => {
    const state = { ...VERIFIED, isSettled: true };
    expect(verifyMoment({ ...state, nowMs: 2 * 30_000 - VERIFY_WITHIN_MS })).toBe('Now');
  });
});

const WEB: readonly KindRef[] = [{ apiVersion: 'apps/v1', kind: 'Deployment' }];
const SET: readonly KindRef[] = [...WEB, { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineSet' }];
/** A foreign kind with the same name. */
const FOREIGN: readonly KindRef[] = [{ apiVersion: 'cluster.x-k8s.io/v1beta1', kind: 'MachineSet' }];

describe('isMachineReadDue', () => {
  const idle = { nowMs: MINUTE, readMs: 0, health: WITHOUT_MACHINES, isSettled: true, declared: WEB };
  it.each([
    ['not in a settled cluster that had no machines a minute ago', {}, false],
    ['in such a cluster after a quarter of an hour', { nowMs: 15 * MINUTE }, true],
    ['while there is work', { isSettled: false }, true],
    ['where git declares machines that are not there yet', { declared: SET }, true],
    ['not for kinds of others with the same name', { declared: FOREIGN }, false],
    ['where machines could not be read', { health: unreadMachines('no rights') }, true],
    ['where there are machines', { health: { ...WITHOUT_MACHINES, reason: 'MachinesReady' } }, true],
  ])('is %s', (_, state, due) => {
    expect(isMachineReadDue({ ...idle, ...state })).toBe(due);
  });
});
