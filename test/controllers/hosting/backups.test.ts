import { describe, expect, it } from 'vitest';
import { backupReady, backupStatus } from '../../../src/controllers/hosting/backups.ts';
import { type BackupReport, INTERRUPTED } from '../../../src/controllers/hosting/drivers/driver.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { ago, NOW } from '../../support/builders.ts';
import { severalMembers } from '../../support/hosting/etcd.ts';
import {
  DRILLED,
  HOSTED,
  hostingInput,
  type InputParts,
  members,
  upkeepRun,
} from '../../support/hosting/objects.ts';

const EVERY = { etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 3 } } };
const FAILED = { at: NOW, problem: 'the disk is full', since: new Date(+NOW - 7200_000) };
const UNFINISHED = { at: NOW, problem: INTERRUPTED, since: NOW };
const AGAIN = { ...UNFINISHED, since: FAILED.since, former: FAILED.problem };
const STOPPED = members({ etcd: { state: 'Stopped' } });
const RECORDED = { lastBackupAt: ago(60), lastBackup: 'x', backupRequest: 'q', restoredFrom: 'y' };

function taken(seconds: number): BackupReport['backups'] {
  return [{ name: '000001-20300101T000000Z', takenAt: new Date(+NOW - seconds * 1000), request: 'q-1' }];
}

function condition(parts: InputParts): string {
  const [found] = backupReady(hostingInput({ hosted: EVERY, ...parts }));
  return found ? `${found.status} ${found.reason}: ${found.message}` : 'none';
}

function running(type: 'Backup' | 'Drill', backup: BackupReport): InputParts {
  return { plane: { backup }, input: { upkeep: upkeepRun(type) } };
}

function etcdStatus(etcd: object): InputParts {
  return { status: { conditions: [], hosted: { etcd: { members: 1, ready: 1, ...etcd } } } };
}

describe('the condition BackupReady', () => {
  it.each<readonly [string, InputParts, string]>([
    ['nobody wants backups', { hosted: {} }, 'none'],
    [
      'the one that a person asked for failed',
      { hosted: {}, plane: { backup: { backups: [], attempt: FAILED } } },
      'False BackupFailed',
    ],
    ['its driver takes none', {}, 'False NotSupported'],
    ['the control plane is not created', { plane: { isPrepared: false } }, 'Unknown NotCreated'],
    ['there is none', { plane: { backup: { backups: [] } } }, 'False BackupDue'],
    ['the last one is recent', { plane: { backup: { backups: taken(7199) } } }, 'True Recent'],
    ['two are missed', { plane: { backup: { backups: taken(7200) } } }, 'False BackupDue'],
    ['it is of the future', { plane: { backup: { backups: taken(-60) } } }, 'False BackupDue'],
    [
      'the last attempt failed',
      { plane: { backup: { backups: taken(60), attempt: FAILED } } },
      'True LastAttemptFailed',
    ],
    ['every attempt failed', { plane: { backup: { backups: [], attempt: FAILED } } }, 'False BackupFailed'],
    [
      'the last drill failed',
      { plane: { backup: { backups: taken(60), drill: FAILED } } },
      'False DrillFailed',
    ],
    [
      'a crash ended the last drill',
      { plane: { backup: { backups: taken(60), drill: { at: NOW, problem: INTERRUPTED } } } },
      'True Recent',
    ],
    [
      'a crash ended the drill after one that failed',
      { plane: { backup: { backups: taken(60), drill: AGAIN } } },
      'False DrillFailed',
    ],
    [
      'the first one is being taken',
      running('Backup', { backups: [], attempt: UNFINISHED }),
      'False BackupDue',
    ],
    [
      'the next one is being taken',
      running('Backup', { backups: taken(60), attempt: UNFINISHED }),
      'True Recent',
    ],
    [
      'one is being taken after one that failed',
      running('Backup', { backups: taken(60), attempt: AGAIN }),
      'True LastAttemptFailed',
    ],
    [
      'one is being taken after all have failed',
      running('Backup', { backups: [], attempt: AGAIN }),
      'False BackupFailed',
    ],
    [
      'the first drill is being made',
      running('Drill', { backups: taken(60), drill: UNFINISHED }),
      'True Recent',
    ],
    [
      'a drill is being made after one that failed',
      running('Drill', { backups: taken(60), drill: AGAIN }),
      'False DrillFailed',
    ],
    [
      'the one that a person asked for is being taken',
      { ...running('Backup', { backups: [], attempt: UNFINISHED }), hosted: {} },
      'none',
    ],
    [
      'one of three members of etcd is down',
      { plane: { backup: { backups: [] }, ...severalMembers({ but: { etcd: { state: 'Stopped' } } }) } },
      'False BackupDue',
    ],
    ['etcd is down', { plane: { backup: { backups: [] }, members: STOPPED } }, 'False EtcdNotReady'],
  ])('HOS-32 tells how the backups are when %s', (_, parts, expected) => {
    expect(condition(parts).replace(/: .*/s, '')).toBe(expected);
  });

  it('HOS-32 names the last backup, why there is no other one, since when, and when it is tried again', () => {
    const parts = { plane: { backup: { backups: taken(7200), attempt: FAILED } } };
    const since = wholeSeconds(FAILED.since);
    expect(condition(parts)).toBe(
      `False BackupFailed: the last backup is of ${since}; backups fail since ${since}: the disk is full; the next attempt is within 5 minutes`,
    );
    expect(condition({ plane: { backup: { backups: [] } } })).toBe(
      'False BackupDue: etcd has no backup; the next one is under way',
    );
    expect(condition({ ...parts, spec: { paused: true, hosted: { ...HOSTED, ...EVERY } } })).toContain(
      'none is taken while spec.paused is set',
    );
  });

  it('HOS-32 tells what an API server read in the last drill', () => {
    const drill = { at: NOW, checked: DRILLED };
    expect(condition({ plane: { backup: { backups: taken(60), drill } } })).toBe(
      `True Recent: 1 backups; the last one is of ${ago(60)}, and was opened; in the drill of ${wholeSeconds(NOW)} an API server read all 312 objects of 24 resources from 000001-20300101T000000Z, among them 4 namespaces and 7 objects of kubenode.dev`,
    );
  });

  it('HOS-32 fits into a status, also with a long problem', () => {
    const attempt = { ...FAILED, problem: 'x'.repeat(2000) };
    expect(condition({ plane: { backup: { backups: [], attempt } } }).length).toBeLessThan(700);
  });

  it.each<readonly [string, object, string]>([
    ['the last one known is recent', { lastBackupAt: ago(60) }, 'True Recent'],
    ['it is too old', { lastBackupAt: ago(7200) }, 'Unknown NotObserved'],
    ['none is known', {}, 'Unknown NotObserved'],
  ])('HOS-32 ages while the control plane cannot be observed, and %s', (_, etcd, expected) => {
    const { cluster, now } = hostingInput({ hosted: EVERY, ...etcdStatus(etcd) });
    const [found] = backupReady({ cluster, now });
    expect(`${found?.status} ${found?.reason}`).toBe(expected);
  });

  it('HOS-32 does not stay as it was when the spec has no schedule any more', () => {
    const before = { type: 'BackupReady', status: 'True', reason: 'Recent', message: '' } as const;
    const conditions = [{ ...before, lastTransitionTime: ago(60) }];
    expect(condition({ hosted: {}, status: { conditions } })).toMatch(/^Unknown NotConfigured/);
  });
});

function drillAt(backup: BackupReport, before: object = {}): string | undefined {
  return backupStatus(hostingInput({ ...etcdStatus(before), plane: { backup } })).lastDrillAt;
}

describe('the status of backups', () => {
  it('HOS-32 has the last backup, the request that it answers, and the backup that it began with', () => {
    const backup = { backups: taken(60), restoredFrom: '000009-20290101T000000Z' };
    expect(backupStatus(hostingInput({ plane: { backup } }))).toEqual({
      lastBackupAt: ago(60),
      lastBackup: '000001-20300101T000000Z',
      backupRequest: 'q-1',
      restoredFrom: '000009-20290101T000000Z',
    });
  });

  it('HOS-32 has when a drill restored a backup last, also after one that failed', () => {
    const [drill, failed] = [{ at: NOW }, FAILED];
    expect(drillAt({ backups: [], drill })).toBe(wholeSeconds(NOW));
    expect(drillAt({ backups: [], drill: failed })).toBeUndefined();
    expect(drillAt({ backups: [], drill: failed }, { lastDrillAt: ago(60) })).toBe(ago(60));
  });

  it('HOS-32 has what the last drill read, and nothing of one whose record does not have it', () => {
    const { clusterUid, ours, ...counts } = DRILLED;
    const lastDrill = { ...counts, clusterUID: clusterUid, kubenodeObjects: ours };
    const status = (drill: object): object =>
      backupStatus(
        hostingInput({
          ...etcdStatus({ lastDrill }),
          plane: { backup: { backups: [], drill: { at: NOW, ...drill } } },
        }),
      );
    expect(status({ checked: DRILLED })).toMatchObject({ lastDrill });
    expect(status({ problem: 'no etcd' })).toMatchObject({ lastDrill });
    expect(status({})).not.toHaveProperty('lastDrill');
  });

  it('HOS-32 has what is being made, its step and its begin', () => {
    const parts = running('Drill', { backups: [] });
    const expected = { type: 'Drill', step: 'Copying', startedAt: ago(60) };
    expect(backupStatus(hostingInput(parts))).toEqual({ upkeep: expected });
    expect(backupStatus(hostingInput({ ...parts, ...etcdStatus({ upkeep: expected }), input: {} }))).toEqual(
      {},
    );
  });

  it('HOS-32 stays as it was where nothing is observed', () => {
    expect(backupStatus(hostingInput(etcdStatus(RECORDED)))).toEqual(RECORDED);
  });

  it('HOS-32 forgets backups that a person removed, but not what it began with', () => {
    const parts = { ...etcdStatus(RECORDED), plane: { backup: { backups: [] } } };
    expect(backupStatus(hostingInput(parts))).toEqual({ restoredFrom: 'y' });
  });
});
