import { describe, expect, it } from 'vitest';
import type {
  ApiServerMember,
  MemberReport,
  PlaneMember,
} from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  isApiServing,
  serversWait,
  unreachedWait,
} from '../../../../../src/controllers/hosting/plan/api-servers/serving.ts';
import { hasItsNeeds } from '../../../../../src/controllers/hosting/plan/members.ts';
import { hostingInput, members, severalServers } from '../../../../support/hosting/objects.ts';

type But = Partial<Record<PlaneMember, Partial<MemberReport>>>;
const STOPPED = { state: 'Stopped' } as const;
const STARTING = { state: 'Starting' } as const;

function input(but: But, count = 2): ReturnType<typeof hostingInput> {
  return hostingInput({ plane: { members: severalServers(count, but) } });
}

/** The first balancer finds both API servers ready, and the second one these. */
function reaches(...servers: readonly ApiServerMember[]): But {
  return {
    'kubenode-balancer': { reaches: ['kube-apiserver', 'kube-apiserver-1'] },
    'kubenode-balancer-1': { reaches: servers },
  };
}

describe('whether clients reach an API server', () => {
  it.each<[name: string, but: But, expected: boolean]>([
    ['all answer', {}, true],
    ['one API server is down', { 'kube-apiserver': STOPPED }, true],
    ['one balancer is down', { 'kubenode-balancer': STARTING }, true],
    ['all API servers are down', { 'kube-apiserver': STOPPED, 'kube-apiserver-1': STARTING }, false],
    ['all balancers are down', { 'kubenode-balancer': STOPPED, 'kubenode-balancer-1': STOPPED }, false],
    [
      'the first has the port of clients still',
      {
        'kube-apiserver': { isDirect: true },
        'kubenode-balancer': STOPPED,
        'kubenode-balancer-1': STOPPED,
      },
      true,
    ],
    ['only one behind that port answers', { 'kube-apiserver': { isDirect: true, ...STARTING } }, false],
  ])('HOS-13 knows whether clients are served when %s', (_, but, expected) => {
    expect(isApiServing(input(but))).toBe(expected);
  });

  it('HOS-13 counts a former API server that serves while the next one starts', () => {
    const served = { ...STARTING, isServed: true };
    expect(isApiServing(hostingInput({ plane: { members: members({ 'kube-apiserver': served }) } }))).toBe(
      true,
    );
  });

  it('needs no balancer for the only API server', () => {
    expect(isApiServing(hostingInput())).toBe(true);
    const down = hostingInput({ plane: { members: members({ 'kube-apiserver': STOPPED }) } });
    expect(isApiServing(down)).toBe(false);
  });

  it('HOS-13 permits an act on one API server only while the others answer, and always on one that does not', () => {
    expect(serversWait(input({}), 'kube-apiserver')).toBeUndefined();
    expect(serversWait(input({ 'kube-apiserver-1': STARTING }), 'kube-apiserver')).toMatchObject({
      reason: 'ApiServerDown',
      blocker: { name: 'kube-apiserver-1' },
      isStalled: false,
    });
    expect(serversWait(input({ 'kube-apiserver-1': STARTING }), 'kube-apiserver-1')).toBeUndefined();
    expect(serversWait(input({ 'kube-apiserver-1': STARTING }), 'kube-scheduler')).toBeUndefined();
    expect(serversWait(hostingInput(), 'kube-apiserver')).toBeUndefined();
  });

  it('HOS-22 permits an act on one API server only while every balancer finds the others ready', () => {
    const both = input(reaches('kube-apiserver', 'kube-apiserver-1'));
    expect([serversWait(both, 'kube-apiserver'), unreachedWait(both)]).toEqual([undefined, undefined]);
    const second = input(reaches('kube-apiserver-1'));
    expect(serversWait(second, 'kube-apiserver')).toBeUndefined();
    const expected = {
      reason: 'ApiServerDown',
      message:
        'kube-apiserver is not ready for clients of kubenode-balancer-1: no other API server is taken out of service',
      blocker: { name: 'kube-apiserver' },
    };
    expect(serversWait(second, 'kube-apiserver-1')).toMatchObject(expected);
    expect(unreachedWait(second)).toMatchObject(expected);
    expect(serversWait(second, 'kube-scheduler')).toBeUndefined();
    // One that an earlier version of hosting started does not tell.
    expect(unreachedWait(input({}))).toBeUndefined();
    // One that finds none ready tries all.
    const none = input(reaches());
    expect([serversWait(none, 'kube-apiserver'), unreachedWait(none)]).toEqual([undefined, undefined]);
    const only = { 'kubenode-balancer': { reaches: [] } };
    expect(serversWait(input(only, 1), 'kube-apiserver')).toBeUndefined();
  });

  it('starts balancers when their port is free, and managers when clients are served', () => {
    const direct = input({ 'kube-apiserver': { isDirect: true } });
    expect(hasItsNeeds(direct, 'kubenode-balancer')).toBe(false);
    expect(hasItsNeeds(input({}), 'kubenode-balancer-1')).toBe(true);
    const silent = input({ 'kube-apiserver': STOPPED, 'kube-apiserver-1': STOPPED });
    expect(hasItsNeeds(silent, 'kubenode-balancer')).toBe(true);
    expect(hasItsNeeds(silent, 'kube-scheduler')).toBe(false);
    expect(hasItsNeeds(silent, 'kube-apiserver-1')).toBe(true);
    expect(hasItsNeeds(input({ 'kube-apiserver': STOPPED }), 'kube-scheduler')).toBe(true);
  });
});
