import { describe, expect, it } from 'vitest';
import {
  backupStep,
  isRestoreOver,
  isTaskReplaced,
  stuckReason,
} from '../../../../../../src/controllers/hosting/drivers/workload/backup/step.ts';
import { ANNOTATION_TAKEN_AT } from '../../../../../../src/controllers/hosting/drivers/workload/names.ts';
import type { SnapshotState } from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/state.ts';
import { optional } from '../../../../../../src/kube/objects/optional.ts';
import { NOW } from '../../../../../support/builders.ts';

const RUNNING: SnapshotState = { type: 'Running' };
const BLOCKED: SnapshotState = { type: 'Blocked', problem: 'no node' };
const FAILED: SnapshotState = { type: 'Failed', problem: 'no room' };
const TAKEN: SnapshotState = { type: 'Taken', takenAt: NOW };

function before(seconds: number): string {
  return new Date(+NOW - seconds * 1000).toISOString();
}

describe('what follows from the state of a Job for backups', () => {
  it.each<readonly [string, SnapshotState, readonly string[]]>([
    // The one that is asked for, another of its kind, and one of another kind.
    ['runs', RUNNING, ['Wait', 'Replace', 'Wait']],
    ['is blocked', BLOCKED, ['Wait', 'Replace', 'Wait']],
    ['has failed', FAILED, ['Fail', 'Replace', 'Replace']],
    ['has ended', TAKEN, ['Settle', 'Settle', 'Settle']],
  ])('HOS-32 is right for one that %s', (_, state, expected) => {
    const step = (isAsked: boolean, isSameKind: boolean): string =>
      backupStep({ state, isAsked, isReplaced: isSameKind, isLate: false });
    expect([step(true, true), step(false, true), step(false, false)]).toEqual(expected);
  });

  it('HOS-32 ends one that has been blocked for long, and never one that runs', () => {
    const late = { isAsked: true, isReplaced: true, isLate: true };
    expect(backupStep({ state: BLOCKED, ...late })).toBe('Fail');
    expect(backupStep({ state: BLOCKED, ...late, isAsked: false, isReplaced: false })).toBe('Replace');
    expect(backupStep({ state: RUNNING, ...late })).toBe('Wait');
  });

  it('HOS-32 ends a restore while etcd serves, and waits for a drill before a backup', () => {
    const found = (['Restore', 'Drill', 'Backup', undefined] as const).map((task) =>
      isTaskReplaced(task, 'Backup'),
    );
    expect(found).toEqual([true, false, true, false]);
    const restore = { isAsked: false, isReplaced: true, isLate: false };
    expect([RUNNING, BLOCKED].map((state) => backupStep({ state, ...restore }))).toEqual([
      'Replace',
      'Replace',
    ]);
  });

  it.each<readonly [string, SnapshotState, object, string]>([
    ['runs', RUNNING, { [ANNOTATION_TAKEN_AT]: before(1859) }, 'nothing'],
    ['runs longer than its deadline', RUNNING, { [ANNOTATION_TAKEN_AT]: before(1860) }, 'not ended 1800 s'],
    ['is blocked', BLOCKED, { [ANNOTATION_TAKEN_AT]: before(9000) }, 'nothing'],
    ['is being deleted', RUNNING, { deletionTimestamp: before(59) }, 'nothing'],
    ['is not deleted after a minute', RUNNING, { deletionTimestamp: before(60) }, 'is being deleted since'],
  ])('HOS-32 names why one does not end by itself that %s', (_, state, { ...parts }, expected) => {
    const { deletionTimestamp, ...annotations } = parts as Record<string, string>;
    const metadata = {
      name: 'etcd-backups',
      annotations,
      ...optional('deletionTimestamp', deletionTimestamp),
    };
    const found = stuckReason({ apiVersion: 'batch/v1', kind: 'Job', metadata }, state, NOW) ?? 'nothing';
    expect(found).toContain(expected);
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
