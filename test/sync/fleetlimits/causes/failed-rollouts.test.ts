import { describe, expect, it } from 'vitest';
import type { FoundCause } from '../../../../src/api/generated/types.ts';
import {
  failedRolloutsCause,
  recentFailedRollouts,
} from '../../../../src/sync/fleetlimits/causes/failed-rollouts.ts';
import type { LinkedCluster } from '../../../../src/sync/fleetlimits/fleet.ts';
import { ago, cluster, fleetPolicy, NOW } from '../builders.ts';

/** A cluster whose rollouts failed so many seconds ago. */
function failed(name: string, ...seconds: readonly number[]): LinkedCluster {
  const found = cluster(name);
  const { allowance } = found;
  if (!allowance?.status) throw new Error('no allowance');
  const rollouts = seconds.map((each, index) => ({ set: `s-${index}`, revision: 'r-2', at: ago(each) }));
  return { ...found, allowance: { ...allowance, status: { ...allowance.status, failedRollouts: rollouts } } };
}

function causeOf(max: number, clusters: readonly LinkedCluster[], causes: readonly FoundCause[] = []) {
  const policy = fleetPolicy({ failedRollouts: { max, windowSeconds: 3600 } });
  return failedRolloutsCause({
    policy: { ...policy, status: { conditions: [], causes } },
    clusters,
    now: NOW,
  })[0];
}

describe('failedRolloutsCause', () => {
  it.each([
    ['one less than the limit', 3, false],
    ['as many as the limit', 2, true],
    ['more than the limit', 1, true],
  ])('with %s', (_, max, isHeld) => {
    expect(causeOf(max, [failed('a', 600), failed('b', 60, 4000)]) !== undefined).toBe(isHeld);
  });

  it('ends when so many have left the period that one more may fail', () => {
    const clusters = [failed('a', 3000, 600), failed('b', 60)];
    expect(causeOf(3, clusters)?.until).toBe(new Date(Date.parse(ago(3000 - 3600))).toISOString());
    expect(causeOf(2, clusters)?.until).toBe(new Date(Date.parse(ago(600 - 3600))).toISOString());
  });

  it('names the clusters, and since when it is held', () => {
    const first = causeOf(2, [failed('a', 600, 500), failed('b', 60)]);
    expect(first).toMatchObject({
      dimension: 'failedRollouts',
      value: 'fleet',
      since: NOW.toISOString(),
      clusters: [
        { cluster: 'a', at: ago(500) },
        { cluster: 'b', at: ago(60) },
      ],
      message: '2 rollouts failed within 3600 s in a, b: from 2 on, no other one begins',
    });
    const held = { ...first, since: ago(500) } as FoundCause;
    expect(causeOf(2, [failed('a', 600), failed('b', 60)], [held])?.since).toBe(ago(500));
  });

  it.each([
    ['one cluster alone: no', [failed('a', 600, 500, 400, 300)], false],
    ['one cluster and another one', [failed('a', 600, 500, 400, 300), failed('b', 60)], true],
    [
      'one cluster that reports to another hub, and another one: no',
      [{ ...failed('a', 6, 5), state: 'OtherHub' as const }, failed('b', 60)],
      false,
    ],
  ])('is held after rollouts failed in %s', (_, clusters, isHeld) => {
    expect(causeOf(3, clusters) !== undefined).toBe(isHeld);
  });

  it('is held by a single cluster only where git permits none to fail', () => {
    expect(causeOf(1, [failed('a', 600)])).toBeDefined();
  });

  it('is held no longer by a clock that is ahead', () => {
    const clusters = [failed('a', -90_000), failed('b', 60)];
    expect(Date.parse(causeOf(2, clusters)?.until ?? '')).toBe(Date.parse(ago(60 - 3600)));
    const { until = '' } = causeOf(1, [failed('a', -90_000)]) ?? {};
    expect(Date.parse(until) - +NOW).toBe(3_600_000);
  });

  it('counts nothing where no policy limits it', () => {
    const unlimited = { policy: fleetPolicy(), clusters: [failed('a', 60)], now: NOW };
    expect(recentFailedRollouts(unlimited)).toEqual([]);
    expect(failedRolloutsCause(unlimited)).toEqual([]);
  });
});
