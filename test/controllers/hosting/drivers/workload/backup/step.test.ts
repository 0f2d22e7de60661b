import { describe, expect, it } from 'vitest';
import {
  backupStep,
  isRestoreOver,
} from '../../../../../../src/controllers/hosting/drivers/workload/backup/step.ts';
import type { SnapshotState } from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/state.ts';
import { NOW } from '../../../../../support/builders.ts';

const RUNNING: SnapshotState = { type: 'Running' };
const BLOCKED: SnapshotState = { type: 'Blocked', problem: 'no node' };
const FAILED: SnapshotState = { type: 'Failed', problem: 'no room' };
const TAKEN: SnapshotState = { type: 'Taken', takenAt: NOW };

describe('what follows from the state of a Job for backups', () => {
  it.each<readonly [string, SnapshotState, readonly string[]]>([
    // The one that is asked for, another of its kind, and one of another kind.
    ['runs', RUNNING, ['Wait', 'Replace', 'Wait']],
    ['is blocked', BLOCKED, ['Wait', 'Replace', 'Wait']],
    ['has failed', FAILED, ['Fail', 'Replace', 'Replace']],
    ['has ended', TAKEN, ['Settle', 'Settle', 'Settle']],
  ])('HOS-32 is right for one that %s', (_, state, expected) => {
    const step = (isAsked: boolean, isSameKind: boolean): string =>
      backupStep({ state, isAsked, isSameKind, isLate: false });
    expect([step(true, true), step(false, true), step(false, false)]).toEqual(expected);
  });

  it('HOS-32 ends one that has been blocked for long, and never one that runs', () => {
    const late = { isAsked: true, isSameKind: true, isLate: true };
    expect(backupStep({ state: BLOCKED, ...late })).toBe('Fail');
    expect(backupStep({ state: BLOCKED, ...late, isAsked: false, isSameKind: false })).toBe('Replace');
    expect(backupStep({ state: RUNNING, ...late })).toBe('Wait');
  });

  it.each<readonly [SnapshotState, number | undefined, boolean]>([
    [FAILED, 299, false],
    [FAILED, 300, true],
    [FAILED, undefined, true],
    [BLOCKED, 900, false],
    [RUNNING, 900, false],
  ])('HOS-32 tries a restore again 5 minutes after it failed: %o, %s s', (state, seconds, expected) => {
    const createdAt = seconds === undefined ? 'x' : new Date(+NOW - seconds * 1000).toISOString();
    expect(isRestoreOver(state, createdAt, NOW)).toBe(expected);
  });
});
