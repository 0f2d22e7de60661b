import { describe, expect, it } from 'vitest';
import type { EtcdSpace } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import { etcdFull, planShrink } from '../../../../../src/controllers/hosting/plan/etcd/space.ts';
import { needsGrant } from '../../../../../src/controllers/hosting/plan/grants.ts';
import { NOW } from '../../../../support/builders.ts';
import { type SeveralParts, severalMembers } from '../../../../support/hosting/etcd.ts';
import {
  decisionText,
  hostingInput,
  type InputParts,
  members,
  upkeepRun,
} from '../../../../support/hosting/objects.ts';

const MB = 1e6;
const FULL: EtcdSpace = { quotaBytes: 64 * MB, dbBytes: 64 * MB, inUseBytes: 60 * MB, isFull: true };
const LOOSE: EtcdSpace = { quotaBytes: 64 * MB, dbBytes: 32 * MB, inUseBytes: 16 * MB, isFull: false };

function text(space: EtcdSpace | undefined, parts: InputParts = {}): string {
  const plane = { ...parts.plane, ...(space ? { space } : {}) };
  return decisionText(planShrink(hostingInput({ ...parts, plane })) ?? {}).replace(/: .*/, '');
}

function tried(space: EtcdSpace, seconds: number, problem?: string): EtcdSpace {
  const at = new Date(+NOW - seconds * 1000);
  return { ...space, attempt: { at, ...(problem === undefined ? {} : { problem }) } };
}

describe('the plan of the database of etcd', () => {
  it.each<readonly [string, EtcdSpace | undefined, string]>([
    ['it is not known', undefined, 'nothing'],
    ['it refuses writes', FULL, 'Shrink'],
    ['it was tried a moment ago', tried(FULL, 299, 'x'), 'nothing'],
    ['it was tried 5 minutes ago', tried(FULL, 300, 'x'), 'Shrink'],
    ['it was tried in the future', tried(FULL, -9, 'x'), 'Shrink'],
    ['half of a large one is not in use', LOOSE, 'Shrink'],
    ['a little more is in use', { ...LOOSE, inUseBytes: 17 * MB }, 'nothing'],
    ['it is small', { ...LOOSE, dbBytes: 31 * MB, inUseBytes: 1 * MB }, 'nothing'],
    ['it was defragmented within the hour', tried(LOOSE, 3599), 'nothing'],
    ['it was defragmented an hour ago', tried(LOOSE, 3600), 'Shrink'],
  ])('HOS-33 plans what the database needs when %s', (_, space, expected) => {
    expect(text(space)).toBe(expected);
  });

  it('HOS-33 waits for the other members and for a change where nothing is urgent, and for etcd always', () => {
    const silent = { plane: { members: members({ 'kube-apiserver': { state: 'Starting' } }) } } as const;
    expect([text(LOOSE, silent), text(FULL, silent)]).toEqual(['nothing', 'Shrink']);
    const upgrading = { status: { conditions: [], hosted: { upgrade: { step: 'Soak' } } } };
    expect([text(LOOSE, upgrading), text(FULL, upgrading)]).toEqual(['nothing', 'Shrink']);
    const starting = { plane: { members: members({ etcd: { state: 'Starting' } }) } } as const;
    expect(text(FULL, starting)).toBe('nothing');
  });

  it('HOS-33 waits for no gateway, which no other member needs', () => {
    const gateway = { member: 'kubenode-gateway', state: 'Stopped', starts: [] } as const;
    expect(text(LOOSE, { plane: { members: [...members(), gateway] } })).toBe('Shrink');
  });

  it('HOS-33 defragments nothing while a backup reads the database, and does during a drill', () => {
    const during = (['Backup', 'Drill'] as const).map((type) =>
      text(FULL, { input: { upkeep: upkeepRun(type) } }),
    );
    expect(during).toEqual(['nothing', 'Shrink']);
  });

  it.each<readonly [string, SeveralParts, string]>([
    ['all count for the majority', {}, 'Shrink Shrink'],
    ['one is down', { but: { 'etcd-1': { state: 'Stopped' } } }, 'nothing nothing'],
    ['one has lost its data', { but: { etcd: { data: 'Empty' } } }, 'nothing nothing'],
    ['one learns', { list: { 'etcd-2': 'Learner' } }, 'nothing nothing'],
  ])(
    'HOS-30 makes the database of three members smaller only when %s, also a full one',
    (_, parts, expected) => {
      const plane = severalMembers(parts);
      expect(`${text(LOOSE, { plane })} ${text(FULL, { plane })}`).toBe(expected);
    },
  );

  it('HOS-33 waits for the kill switch, and asks the Defender', () => {
    expect(text(FULL, { input: { halt: 'anna: incident' } })).toBe('wait KillSwitch');
    expect(needsGrant({ type: 'Shrink', because: '' })).toBe(true);
  });

  it('HOS-33 names the sizes, what is done, what failed, and what a person can do', () => {
    const found = etcdFull(hostingInput({ plane: { space: tried(FULL, 9, '60 MB are in use') } }));
    expect(found?.reason).toBe('QuotaExceeded');
    expect(found?.message).toMatch(
      /^etcd refuses writes: the database has 64 MB of 64 MB, and 60 MB are in use; .*60 MB are in use; delete objects/,
    );
    const long = etcdFull(hostingInput({ plane: { space: tried(FULL, 9, 'x'.repeat(1000)) } }));
    expect(long?.message).toMatch(/x…; delete objects, such as Events: deletions are accepted$/);
    expect(long?.message.length).toBeLessThan(1000);
    expect(etcdFull(hostingInput({ plane: { space: LOOSE } }))).toBeUndefined();
    expect(etcdFull(hostingInput())).toBeUndefined();
  });
});
