import { describe, expect, it } from 'vitest';
import { ANNOTATION_BACKUP_REQUEST } from '../../../../../src/api/names.ts';
import type { BackupReport, PlaneBackup } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import { planBackupRestore, withBackup } from '../../../../../src/controllers/hosting/plan/etcd/backup.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import { ago, NOW } from '../../../../support/builders.ts';
import { type SeveralParts, severalMembers } from '../../../../support/hosting/etcd.ts';
import {
  addon,
  decisionText,
  HOSTED,
  hostingInput,
  type InputParts,
  members,
  stoppedMember,
  upkeepRun,
} from '../../../../support/hosting/objects.ts';

const EVERY = { etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 3 } } };
const FROM = { etcd: { ...HOSTED.etcd, restoreFrom: 'latest' } };
const ASKED = { annotations: { [ANNOTATION_BACKUP_REQUEST]: 'q-1' } };
const READY = { status: { conditions: [], hosted: { readyAt: ago(9000) } } };

/** A backup that was taken so many seconds ago. */
function taken(seconds: number, request?: string): PlaneBackup {
  const takenAt = new Date(+NOW - seconds * 1000);
  return { name: '000001-20300101T000000Z', takenAt, ...(request === undefined ? {} : { request }) };
}

function failed(seconds: number): BackupReport['attempt'] {
  return { at: new Date(+NOW - seconds * 1000), problem: 'the disk is full' };
}

function passed(seconds: number): NonNullable<BackupReport['drill']> {
  return { at: new Date(+NOW - seconds * 1000) };
}

function withBackups(backups: readonly PlaneBackup[], attempt?: BackupReport['attempt']): InputParts {
  return { hosted: EVERY, plane: { backup: { backups, attempt } } };
}

function text(parts: InputParts): string {
  return decisionText(planHosting(hostingInput(parts))).replace(/: .*/, '');
}

const STOPPED = { state: 'Stopped' } as const;

/** The decision on a backup of three members that is due. */
function due(but: SeveralParts['but'] & object): string {
  const plane = { backup: { backups: [] }, ...severalMembers({ but }) };
  return decisionText(withBackup(hostingInput({ hosted: EVERY, plane }), {})).replace(/: .*/, '');
}

describe('the plan of backups', () => {
  it.each<readonly [string, InputParts, string]>([
    ['nobody wants any', { plane: { backup: { backups: [] } } }, 'nothing'],
    ['its driver takes none', { hosted: EVERY }, 'nothing'],
    ['there is none', withBackups([]), 'Backup'],
    ['the last one is an hour old', withBackups([taken(3600)]), 'Backup'],
    ['the last one is a second younger', withBackups([taken(3599)]), 'nothing'],
    ['the last one is of the future, because the clock was set back', withBackups([taken(-60)]), 'Backup'],
    ['it failed a moment ago', withBackups([], failed(299)), 'nothing'],
    ['it failed 5 minutes ago', withBackups([], failed(300)), 'Backup'],
    ['it failed in the future', withBackups([], failed(-60)), 'Backup'],
    ['the last attempt did not fail', withBackups([], { at: NOW }), 'Backup'],
    [
      'the last one is of the future, and was a moment ago',
      withBackups([taken(-60)], passed(299)),
      'nothing',
    ],
    [
      'the last one is of the future, and was 5 minutes ago',
      withBackups([taken(-60)], passed(300)),
      'Backup',
    ],
    [
      'the last one is old, and the last attempt a moment ago',
      withBackups([taken(3600)], passed(9)),
      'nothing',
    ],
  ])('HOS-32 plans the next backup when %s', (_, parts, expected) => {
    expect(text(parts)).toBe(expected);
  });

  it.each<readonly [string, InputParts, string]>([
    ['for the first time', { plane: { backup: { backups: [] } }, metadata: ASKED }, 'Backup'],
    ['again', { plane: { backup: { backups: [taken(9)] } }, metadata: ASKED }, 'Backup'],
    ['and got it', { plane: { backup: { backups: [taken(9, 'q-1')] } }, metadata: ASKED }, 'nothing'],
    [
      'with a text that the status has no room for',
      {
        plane: { backup: { backups: [] } },
        metadata: { annotations: { [ANNOTATION_BACKUP_REQUEST]: 'q'.repeat(65) } },
      },
      'nothing',
    ],
    [
      'and it has just failed',
      { plane: { backup: { backups: [], attempt: failed(9) } }, metadata: ASKED },
      'nothing',
    ],
  ])('HOS-32 plans a backup that a person asked for %s', (_, parts, expected) => {
    expect(text(parts)).toBe(expected);
  });

  it('HOS-32 keeps as many as the spec wants, and names the request that it answers', () => {
    const { act } = planHosting(hostingInput({ ...withBackups([]), metadata: ASKED }));
    expect(act).toMatchObject({ type: 'Backup', options: { keep: 3, request: 'q-1' } });
    const asked = hostingInput({ plane: { backup: { backups: [] } }, metadata: ASKED });
    expect(planHosting(asked).act).toMatchObject({ options: { keep: 7 } });
  });

  it('HOS-32 goes on while something else waits for a person, and that stays reported', () => {
    const parts = { ...withBackups([]), input: { secret: 'Foreign' as const } };
    const decision = planHosting(hostingInput(parts));
    expect([decision.act?.type, decision.wait?.reason]).toEqual(['Backup', 'SecretNotOurs']);
  });

  it('HOS-32 takes none of an etcd that does not answer, and none before another act', () => {
    const parts = withBackups([]);
    const starting = { ...parts.plane, members: members({ etcd: { state: 'Starting' } }) };
    expect(withBackup(hostingInput({ ...parts, plane: starting }), {})).toEqual({});
    const act = { type: 'Prepare', because: 'x' } as const;
    expect(withBackup(hostingInput(parts), { act })).toEqual({ act });
  });

  it('HOS-32 takes one of several members while a majority answers, and none without it', () => {
    expect([due({ etcd: STOPPED }), due({ etcd: STOPPED, 'etcd-1': STOPPED })]).toEqual([
      'Backup',
      'nothing',
    ]);
  });

  it('HOS-32 takes none while the Cluster is paused', () => {
    expect(text({ ...withBackups([]), spec: { paused: true } })).toBe('wait Paused');
  });
});

function withStopped(): ReturnType<typeof members> {
  return members().map((each) => (each.member === 'kube-scheduler' ? stoppedMember(each.member) : each));
}

describe('the plan beside a backup or a drill that runs', () => {
  const hosted = {
    etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 3, drillEverySeconds: 86_400 } },
  };
  const overdue = { backup: { backups: [taken(3600)] } };

  it.each(['Backup', 'Drill'] as const)('HOS-32 begins no other one while one runs: %s', (type) => {
    const input = { upkeep: upkeepRun(type) };
    expect(text({ hosted, plane: overdue, input })).toBe('nothing');
    expect(text({ hosted, plane: { backup: { backups: [taken(60)] } }, input })).toBe('nothing');
    expect(text({ hosted, plane: overdue, input, metadata: ASKED })).toBe('nothing');
  });

  it.each<readonly [string, InputParts, string]>([
    ['starts a member that ended', { plane: { members: withStopped() } }, 'Start kube-scheduler'],
    ['writes a kubeconfig', { input: { secret: 'Differs' } }, 'WriteSecret'],
    [
      'destroys the control plane',
      { metadata: { deletionTimestamp: ago(9) }, input: { secret: 'Absent' } },
      'BeginDestroy',
    ],
  ])('HOS-32 goes on while a backup is taken: hosting %s', (_, { plane, input, metadata }, expected) => {
    const found = text({
      hosted,
      plane: { ...overdue, ...plane },
      input: { ...input, upkeep: upkeepRun('Backup') },
      ...(metadata && { metadata }),
    });
    expect(found).toBe(expected);
  });
});

describe('the plan of restore drills', () => {
  const hosted = {
    etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 3, drillEverySeconds: 86_400 } },
  };
  const drill = (parts: Partial<BackupReport>, input: InputParts = {}): string =>
    text({ hosted, plane: { backup: { backups: [taken(60)], ...parts } }, ...input });

  it.each<readonly [string, Partial<BackupReport>, string]>([
    ['none was made', {}, 'Drill'],
    ['there is no backup', { backups: [], attempt: failed(9) }, 'nothing'],
    ['a backup is due', { backups: [taken(3600)] }, 'Backup'],
    ['the last one is recent', { drill: passed(86_399) }, 'nothing'],
    ['the last one is a day old', { drill: passed(86_400) }, 'Drill'],
    ['the last one is of the future', { drill: passed(-60) }, 'Drill'],
    ['the last one has just failed', { drill: failed(299) }, 'nothing'],
    ['the last one failed 5 minutes ago', { drill: failed(300) }, 'Drill'],
  ])('HOS-32 plans the next restore drill when %s', (_, parts, expected) => {
    expect(drill(parts)).toBe(expected);
  });

  it('HOS-32 has none without a schedule, and none while something else is waited for', () => {
    expect(text(withBackups([taken(60)]))).toBe('nothing');
    expect(drill({}, { input: { secret: 'Foreign' } })).toBe('stalled SecretNotOurs');
  });

  it('HOS-32 keeps no add-on from its apply while it is due, also when it is postponed', () => {
    const input = { addons: { installed: [], hasNodes: true } };
    const declared = { hosted: { ...hosted, addons: [addon('dns')] }, input };
    expect(drill({}, declared)).toBe('ApplyAddon dns');
    expect(drill({ backups: [taken(3600)] }, declared)).toBe('Backup');
  });

  it('HOS-32 is made beside what a change of the control plane waits for, which stays reported', () => {
    const plane = { backup: { backups: [taken(60)] }, differences: ['version'] };
    const { act, wait } = planHosting(hostingInput({ hosted: { ...hosted, version: 'v1.36.4' }, plane }));
    expect([act?.type, wait?.reason]).toEqual(['Drill', 'VersionNotAvailable']);
  });
});

describe('the plan of a restore', () => {
  /** Two of three members have no data, or all of them. */
  function severalEmpty(but: SeveralParts['but'] & object): InputParts {
    const none = {
      'etcd-1': { data: 'Empty' },
      'etcd-2': { data: 'Empty' },
      etcd: { data: 'Empty' },
    } as const;
    return { hosted: FROM, plane: { data: 'Empty', ...severalMembers({ but: { ...none, ...but } }) } };
  }

  it.each<readonly [string, InputParts, string]>([
    ['etcd has no data yet', { hosted: FROM, plane: { data: 'Empty' } }, 'Restore'],
    ['nobody wants it', { plane: { data: 'Empty' } }, 'nothing'],
    ['etcd has data', { hosted: FROM }, 'nothing'],
    ['none of three members has data', severalEmpty({}), 'Restore'],
    ['the first of three members has begun', severalEmpty({ etcd: { data: 'Own' } }), 'nothing'],
    ['another one of three members has data', severalEmpty({ 'etcd-2': { data: 'Own' } }), 'nothing'],
    ['the data was lost later', { hosted: FROM, plane: { data: 'Empty' }, ...READY }, 'nothing'],
  ])('HOS-32 plans a restore of etcd when %s', (_, parts, expected) => {
    expect(decisionText(planBackupRestore(hostingInput(parts)) ?? {}).replace(/: .*/, '')).toBe(expected);
  });

  it('HOS-32 comes before etcd starts, and after the keys are made', () => {
    const stopped = members({ etcd: { state: 'Stopped', starts: [] } });
    const parts = { hosted: FROM, plane: { data: 'Empty', members: stopped } } as const;
    expect(text(parts)).toBe('Restore');
    expect(text({ ...parts, plane: { ...parts.plane, isPrepared: false } })).toBe('RecordLocation');
  });
});
