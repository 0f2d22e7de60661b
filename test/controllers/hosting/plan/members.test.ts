import { describe, expect, it } from 'vitest';
import type { PlaneMember } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { planMembers, waitForMembers } from '../../../../src/controllers/hosting/plan/members.ts';
import { NOW } from '../../../support/builders.ts';
import { type SeveralParts, severalMembers } from '../../../support/hosting/etcd.ts';
import { decisionText, hostingInput, INSIDE, members } from '../../../support/hosting/objects.ts';

const STOPPED = { state: 'Stopped', starts: [] } as const;

function secondsAgo(...seconds: number[]): readonly Date[] {
  return seconds.map((each) => new Date(+NOW - each * 1000));
}

function plan(but: Parameters<typeof members>[0], input = {}): string {
  const decision = planMembers(hostingInput({ plane: { members: members(but) }, input }));
  return decision ? decisionText(decision) : 'nothing';
}

function after(...seconds: number[]): string {
  return plan({ etcd: { state: 'Stopped', starts: secondsAgo(...seconds), logTail: '  | panic' } });
}

function silent(seconds: number): Parameters<typeof members>[0] {
  return { etcd: { state: 'Starting', unreadySince: new Date(+NOW - seconds * 1000) } };
}

describe('the plan of the members of a control plane', () => {
  it('HOS-06 reports what keeps a pod from its start, and does not start it again', () => {
    const problem = {
      reason: 'ImagePullBackOff',
      message: 'not found',
      blocker: { kind: 'Pod', name: 'kn-ci/etcd-0' },
    };
    const etcd = { state: 'Starting', unreadySince: new Date(+NOW - 600_000), problem } as const;
    expect(plan({ etcd })).toBe('nothing');
    const input = hostingInput({ plane: { members: members({ etcd }) } });
    expect(waitForMembers(input)).toEqual({ ...problem, isStalled: true });
  });

  it('HOS-13 does not stop a member that does not answer while a former one of it serves', () => {
    const silentFor = { state: 'Starting', unreadySince: new Date(+NOW - 600_000) } as const;
    expect(plan({ 'kube-apiserver': silentFor })).toMatch(/^Stop kube-apiserver/);
    expect(plan({ 'kube-apiserver': { ...silentFor, isServed: true } })).toBe('nothing');
  });

  it('starts etcd first, and the API server when etcd answers', () => {
    expect(plan({ etcd: STOPPED, 'kube-apiserver': STOPPED })).toBe('Start etcd: it is not running');
    expect(plan({ etcd: { state: 'Starting' }, 'kube-apiserver': STOPPED })).toBe('nothing');
    expect(plan({ 'kube-apiserver': STOPPED })).toBe('Start kube-apiserver: it is not running');
  });

  it('starts the managers when the API server answers, and our controllers when our kinds are there', () => {
    const both = { 'kube-controller-manager': STOPPED, 'kube-scheduler': STOPPED };
    expect(plan({ ...both, 'kube-apiserver': { state: 'Starting' } })).toBe('nothing');
    expect(plan(both)).toBe('Start kube-controller-manager: it is not running');
    const ours = { 'kubenode-controllers': STOPPED };
    expect(plan(ours, { inside: { ...INSIDE, isInstalled: false } })).toBe('nothing');
    expect(plan(ours)).toBe('Start kubenode-controllers: it is not running');
  });

  it('starts a member again that ended, at most three times within five minutes', () => {
    expect(after(900)).toBe('Start etcd: it ended');
    expect(after(299, 200)).toBe('Start etcd: it ended');
    expect(after(299, 200, 100)).toBe('stalled MemberCrashes');
    expect(after(301, 200, 100)).toBe('Start etcd: it ended');
  });

  it('names the log of a member that crashes, and its end', () => {
    const etcd = { state: 'Stopped', starts: secondsAgo(3, 2, 1), logTail: '  | panic: no space' } as const;
    const { wait } = planMembers(hostingInput({ plane: { members: members({ etcd }) } })) ?? {};
    expect(wait?.message).toContain('/hosting/clusters/ci/logs');
    expect(wait?.message).toContain('panic: no space');
    expect(wait?.blocker).toEqual({ kind: 'Process', name: 'etcd' });
  });

  it('stops a member that has not answered for three minutes, unless the kill switch holds it', () => {
    expect(plan(silent(179))).toBe('nothing');
    expect(plan(silent(180))).toBe('Stop etcd: it has not answered for 180 s');
    expect(plan(silent(180), { halt: 'ann: incident' })).toBe('wait KillSwitch');
  });
});

describe('the plan of members that the hub starts again', () => {
  const lost = { state: 'Starting', unreadySince: new Date(+NOW - 600_000) } as const;

  it.each<PlaneMember>([
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kubenode-controllers',
  ])(
    'stops no %s that does not answer: the hub restarts it, or moves it off a node that failed',
    (member) => {
      expect(plan({ [member]: lost })).toMatch(/^Stop /);
      expect(plan({ [member]: lost }, { isRestartedByHub: true })).toBe('nothing');
    },
  );

  it('starts one that hosting has stopped, and waits for one that the hub starts again', () => {
    const hub = { isRestartedByHub: true };
    expect(plan({ 'kube-scheduler': STOPPED }, hub)).toBe('Start kube-scheduler: it is not running');
    const input = hostingInput({ plane: { members: members({ 'kube-scheduler': lost }) }, input: hub });
    expect(waitForMembers(input)?.reason).toBe('MemberStarting');
  });
});

function several(parts: SeveralParts, input = {}): string {
  const decision = planMembers(hostingInput({ plane: severalMembers(parts), input }));
  return decision ? decisionText(decision) : 'nothing';
}

describe('the plan of several members of etcd', () => {
  const lost = { state: 'Stopped', data: 'Empty' } as const;
  const silentNow = { state: 'Starting', unreadySince: new Date(+NOW - 180_000) } as const;

  it('HOS-30 stops a silent member only while all others are healthy', () => {
    expect(several({ but: { 'etcd-1': silentNow } })).toBe('Stop etcd-1: it has not answered for 180 s');
    expect(several({ but: { 'etcd-1': silentNow, 'etcd-2': silentNow } })).toBe('wait QuorumAtRisk');
    expect(several({ but: { 'etcd-1': silentNow }, list: { etcd: 'Learner' } })).toMatch(
      /^PromoteEtcdMember etcd/,
    );
  });

  it('HOS-33 removes a member without data only while all others are healthy and the kill switch is not engaged', () => {
    expect(several({ but: { 'etcd-1': lost } })).toMatch(/^RemoveEtcdMember etcd-1: its data was lost/);
    expect(several({ but: { 'etcd-1': lost } }, { halt: 'ann: x' })).toBe('wait KillSwitch');
    expect(several({ but: { 'etcd-1': lost, etcd: silentNow } })).toBe('wait QuorumAtRisk');
    const down = { state: 'Stopped', starts: secondsAgo(3, 2, 1) } as const;
    expect(several({ but: { 'etcd-1': lost, etcd: down } })).toBe('stalled MemberCrashes');
  });

  it('starts a member before one is taken away, which may wait for a grant', () => {
    const but = { 'etcd-1': lost, 'kube-scheduler': STOPPED };
    expect(several({ but })).toBe('Start kube-scheduler: it is not running');
    expect(plan({ ...silent(180), 'kubenode-controllers': STOPPED })).toBe(
      'Start kubenode-controllers: it is not running',
    );
  });

  it('starts every member that is down, whatever happened to the others', () => {
    const crashed = { state: 'Stopped', starts: secondsAgo(3, 2, 1) } as const;
    expect(several({ but: { etcd: crashed, 'etcd-1': STOPPED } })).toBe('Start etcd-1: it is not running');
    expect(several({ but: { etcd: crashed, 'kube-apiserver': STOPPED } })).toBe(
      'Start kube-apiserver: it is not running',
    );
    expect(several({ but: { etcd: crashed, 'etcd-1': crashed, 'kube-apiserver': STOPPED } })).toBe(
      'stalled MemberCrashes',
    );
  });
});

it('waitForMembers names the first member that does not answer', () => {
  const plane = { members: members({ 'kube-scheduler': { state: 'Starting' } }) };
  expect(waitForMembers(hostingInput({ plane }))?.message).toBe('kube-scheduler does not answer yet');
  expect(waitForMembers(hostingInput())).toBeUndefined();
  const learning = severalMembers({ list: { 'etcd-1': 'Learner' } });
  expect(waitForMembers(hostingInput({ plane: learning }))?.reason).toBe('QuorumAtRisk');
});
