import { describe, expect, it } from 'vitest';
import type { FleetPolicy } from '../../../src/api/generated/types.ts';
import { findCauses } from '../../../src/sync/fleetlimits/causes/find.ts';
import type { LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { fleetPolicyStatus } from '../../../src/sync/fleetlimits/status.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, input } from './builders.ts';

function statusOf(clusters: readonly LinkedCluster[], policy: FleetPolicy = fleetPolicy()) {
  const fleet = input(clusters, [policy]);
  return fleetPolicyStatus(policy, { input: fleet, plan: planShares(fleet), causes: findCauses(fleet) });
}

const WORKING = { shares: { [CLUSTERS]: 1 }, used: { [CLUSTERS]: 1 } };

describe('fleetPolicyStatus', () => {
  it('shows the use of each limit, and who waits for what', () => {
    const waiting = cluster('c', { shares: { [CLUSTERS]: 0 }, requestedFor: 60 });
    const status = statusOf([cluster('a', WORKING), cluster('b', WORKING), waiting]);
    expect(status).toMatchObject({
      phase: 'InForce',
      clusters: { total: 3, current: 3, stopped: 0, cutOff: [] },
      limits: [{ id: CLUSTERS, used: 2, given: 2, max: 2 }],
      waiting: [
        {
          cluster: 'c',
          limit: CLUSTERS,
          since: new Date(ago(60)).toISOString(),
          message: 'at most 2 clusters; counted: a, b',
        },
      ],
    });
  });

  it('names what is not reached, and why', () => {
    const lost = cluster('b', {}, { state: 'CutOff', because: 'no route to host' });
    const status = statusOf([cluster('a', WORKING), lost]);
    expect(status.phase).toBe('CutOff');
    expect(status.clusters?.cutOff).toMatchObject([{ cluster: 'b', message: 'CutOff: no route to host' }]);
  });

  it('is not ready while a cluster that is reached has adopted nothing', () => {
    const behind = cluster('a', { shares: { [CLUSTERS]: 1 }, ends: -10 });
    expect(statusOf([behind])).toMatchObject({ phase: 'NotReady', clusters: { current: 0 } });
  });

  it('tells that limits hold nowhere where all policies together have too many', () => {
    const names = Array.from({ length: 8 }, (_, index) => `limit-${index}`);
    const concurrency = names.map((name) => ({ name, per: 'Cluster', max: 2, floor: 1 }) as const);
    const policies = ['a', 'b', 'c', 'd', 'e'].map((name) => fleetPolicy({ concurrency }, name));
    const fleet = input([cluster('x')], policies);
    const last = policies.at(-1) ?? fleetPolicy();
    const status = fleetPolicyStatus(last, { input: fleet, plan: planShares(fleet), causes: new Map() });
    expect(status.phase).toBe('NotReady');
    expect(status.conditions[0]).toMatchObject({ type: 'InForce', status: 'False', reason: 'TooManyLimits' });
    expect(status.conditions[0]?.message).toMatch(/^8 limits hold nowhere/);
  });

  it('counts the clusters that have stopped', () => {
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' } as const;
    const stopped = cluster('a', WORKING);
    const engaged = {
      type: 'KillSwitchEngaged',
      status: 'True',
      reason: 'Engaged',
      message: '',
      lastTransitionTime: ago(1),
      observedGeneration: 1,
    } as const;
    const { allowance } = stopped;
    const stopping = allowance && { ...allowance, status: { ...allowance.status, conditions: [engaged] } };
    const policy = fleetPolicy({ killSwitch, concurrency: [] }, 'kill-switch');
    const status = statusOf(
      [{ ...stopped, ...(stopping ? { allowance: stopping } : {}) }, cluster('b', WORKING)],
      policy,
    );
    expect(status.phase).toBe('Stopped');
    expect(status.conditions.at(-1)).toMatchObject({
      reason: 'Stopping',
      message: '1 of 2 clusters have stopped; by ann: bad image',
    });
  });

  it('shows what is held after it failed in several clusters, and how many rollouts failed', () => {
    const policy = fleetPolicy({
      commonCause: { clusters: 2, withinSeconds: 3600, holdSeconds: 3600, ignored: [] },
      failedRollouts: { max: 9, windowSeconds: 3600 },
    });
    const status = statusOf([failing('a'), failing('b'), cluster('c', WORKING)], policy);
    expect(status).toMatchObject({
      phase: 'Held',
      failedRollouts: 2,
      causes: [{ dimension: 'componentUpdate', value: 'kubelet-2' }],
    });
    const found = status.conditions.find(({ type }) => type === 'CommonCauseFound');
    expect(found).toMatchObject({ status: 'True', reason: 'FailedInSeveral' });
    expect(found?.message).toMatch(/^componentUpdate kubelet-2 failed in a, b: .* \(held until \S+Z\)$/);
  });

  it('has no record of causes where git asks for none', () => {
    const status = statusOf([failing('a'), failing('b')]);
    expect(status).toMatchObject({ phase: 'InForce' });
    expect([status.causes, status.failedRollouts]).toEqual([undefined, undefined]);
  });
});

function failing(name: string): LinkedCluster {
  const found = cluster(name, WORKING);
  const failure = {
    dimension: 'componentUpdate',
    value: 'kubelet-2',
    at: ago(60),
    message: 'it went back',
  } as const;
  const reports = {
    failures: [failure],
    failedRollouts: [{ set: 'base', revision: 'r-2', at: ago(60) }],
  };
  const { allowance } = found;
  if (!allowance?.status) throw new Error('no allowance');
  return { ...found, allowance: { ...allowance, status: { ...allowance.status, ...reports } } };
}
