import { describe, expect, it } from 'vitest';
import type { EtcdMember, PlaneReport } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import { planMembership } from '../../../../../src/controllers/hosting/plan/etcd/membership.ts';
import { memberReport } from '../../../../../src/controllers/hosting/plan/members.ts';
import { NOW } from '../../../../support/builders.ts';
import { type SeveralParts, severalMembers } from '../../../../support/hosting/etcd.ts';
import { decisionText, hostingInput, members } from '../../../../support/hosting/objects.ts';

const EMPTY = { state: 'Stopped', data: 'Empty' } as const;
const NEW_PLANE: SeveralParts = {
  but: { etcd: EMPTY, 'etcd-1': EMPTY, 'etcd-2': EMPTY },
  list: { etcd: 'NotListed', 'etcd-1': 'NotListed', 'etcd-2': 'NotListed' },
};

function plan(member: EtcdMember, parts: SeveralParts, plane: Partial<PlaneReport> = {}): string {
  const input = hostingInput({ plane: { ...severalMembers(parts), ...plane } });
  const report = memberReport(input, member);
  if (!report) throw new Error(`expected ${member}`);
  const decision = planMembership(report, input);
  return decision ? decisionText(decision).replace(/:.*/, '') : 'as any member';
}

function started(seconds: number): SeveralParts {
  return {
    but: { 'etcd-1': EMPTY, 'etcd-2': { starts: [new Date(+NOW - seconds * 1000)] } },
    list: { 'etcd-1': 'NotListed' },
  };
}

describe('the members of an etcd that has several', () => {
  it('HOS-33 begins with the first member, and the others wait for it', () => {
    expect(plan('etcd', NEW_PLANE, { etcd: undefined })).toBe('as any member');
    expect(plan('etcd-1', NEW_PLANE, { etcd: undefined })).toBe('nothing');
  });

  it.each<readonly [string, SeveralParts, string]>([
    ['has its data and counts', {}, 'as any member'],
    ['is down with its data', { but: { 'etcd-1': { state: 'Stopped' } } }, 'as any member'],
    ['is a learner that answers', { list: { 'etcd-1': 'Learner' } }, 'PromoteEtcdMember etcd-1'],
    [
      'is a learner that does not answer',
      { but: { 'etcd-1': { state: 'Starting' } }, list: { 'etcd-1': 'Learner' } },
      'as any member',
    ],
    ['was removed and has data', { list: { 'etcd-1': 'NotListed' } }, 'stalled EtcdMemberRemoved'],
    [
      'is in no list and has no data',
      { but: { 'etcd-1': EMPTY }, list: { 'etcd-1': 'NotListed' } },
      'AddEtcdMember etcd-1',
    ],
    [
      'was added and has not joined',
      { but: { 'etcd-1': EMPTY }, list: { 'etcd-1': 'New' } },
      'as any member',
    ],
    [
      'joins now',
      { but: { 'etcd-1': { ...EMPTY, state: 'Starting' } }, list: { 'etcd-1': 'New' } },
      'as any member',
    ],
    ['lost its data while it was down', { but: { 'etcd-1': EMPTY } }, 'RemoveEtcdMember etcd-1'],
    [
      'lost its data while it learned',
      { but: { 'etcd-1': EMPTY }, list: { 'etcd-1': 'Learner' } },
      'RemoveEtcdMember etcd-1',
    ],
    [
      'does not start without its data',
      { but: { 'etcd-1': { ...EMPTY, state: 'Starting' } } },
      'Stop etcd-1',
    ],
    ['lost its data while it ran', { but: { 'etcd-1': { data: 'Empty' } } }, 'Stop etcd-1'],
  ])('HOS-33 plans what a member does that %s', (_, parts, expected) => {
    expect(plan('etcd-1', parts)).toBe(expected);
    const first = JSON.parse(JSON.stringify(parts).replaceAll('etcd-1', 'etcd')) as SeveralParts;
    expect(plan('etcd', first)).toBe(expected.replace('etcd-1', 'etcd'));
  });

  it('HOS-33 neither removes nor adds a member while no majority lists the members', () => {
    expect(plan('etcd-1', { but: { 'etcd-1': EMPTY } }, { etcd: undefined })).toBe('wait QuorumAtRisk');
    expect(plan('etcd', { but: { etcd: EMPTY } }, { etcd: undefined })).toBe('wait QuorumAtRisk');
    expect(plan('etcd-1', {}, { etcd: undefined })).toBe('as any member');
    const starting = { but: { 'etcd-1': { ...EMPTY, state: 'Starting' } } } as const;
    expect(plan('etcd-1', starting, { etcd: undefined })).toBe('as any member');
  });

  it.each<readonly [string, SeveralParts, string]>([
    [
      'waits for its claim and has not joined',
      { but: { 'etcd-1': { ...EMPTY, state: 'Starting', starts: [NOW] } }, list: { 'etcd-1': 'New' } },
      'Stop etcd-1',
    ],
    [
      'waits for its claim and was removed',
      { but: { 'etcd-1': { ...EMPTY, state: 'Starting' } }, list: { 'etcd-1': 'NotListed' } },
      'Stop etcd-1',
    ],
    [
      'was started, has not joined and has no claim now',
      { but: { 'etcd-1': { ...EMPTY, starts: [NOW] } }, list: { 'etcd-1': 'New' } },
      'RemoveEtcdMember etcd-1',
    ],
    [
      'was added and never started',
      { but: { 'etcd-1': { ...EMPTY, starts: [] } }, list: { 'etcd-1': 'New' } },
      'as any member',
    ],
  ])('HOS-33 plans what a member of pods does that %s', (_, parts, expected) => {
    expect(plan('etcd-1', parts, { where: 'namespace kn-ci', place: 'Namespace' })).toBe(expected);
  });

  it('HOS-33 adds a member when the others have run for six seconds, also after a clock was set back', () => {
    expect(plan('etcd-1', started(5))).toBe('wait EtcdMemberJoining');
    expect(plan('etcd-1', started(6))).toBe('AddEtcdMember etcd-1');
    expect(plan('etcd-1', started(-3600))).toBe('AddEtcdMember etcd-1');
  });

  it('HOS-33 names the folder of a member that was removed, and leaves it', () => {
    const input = hostingInput({ plane: severalMembers({ list: { 'etcd-2': 'NotListed' } }) });
    const report = memberReport(input, 'etcd-2');
    expect(report && planMembership(report, input)?.wait?.message).toMatch(
      /^etcd-2 was removed from etcd.*move \/hosting\/clusters\/ci\/etcd-2 away/,
    );
  });

  it('HOS-33 names the claim of a member of pods that was removed', () => {
    const several = severalMembers({ list: { 'etcd-2': 'NotListed' } });
    const input = hostingInput({ plane: { ...several, where: 'namespace kn-ci', place: 'Namespace' } });
    const report = memberReport(input, 'etcd-2');
    expect(report && planMembership(report, input)?.wait?.message).toMatch(
      /its volume has data; delete PersistentVolumeClaim kn-ci\/etcd-2, then its pod: hosting adds it again/,
    );
  });

  it('leaves an etcd with one member and other programs as they are', () => {
    const single = hostingInput({ plane: { members: members({ etcd: EMPTY }) } });
    for (const { plane, ...rest } of [single, hostingInput({ plane: severalMembers() })]) {
      const report = plane.members.find(({ member }) => member === (plane.etcd ? 'kube-scheduler' : 'etcd'));
      expect(report && planMembership(report, { ...rest, plane })).toBeUndefined();
    }
  });
});
