import { describe, expect, it } from 'vitest';
import { committed } from '../../../src/sync/fleetlimits/committed.ts';
import { fleetLimitsOf, type LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, NOW, REBOOT_RATE, REBOOTS } from './builders.ts';

function counted(each: LinkedCluster, policy = fleetPolicy(), takeover = 7200): number {
  const [limit] = fleetLimitsOf([policy]);
  if (!limit) throw new Error('the policy has a limit');
  return committed(limit, each, { now: NOW, takeover: new Date(ago(takeover)) });
}

const ONE = { [CLUSTERS]: 1 };
const NONE = { [CLUSTERS]: 0 };
const attempt = (seconds: number, share = 1) => {
  const spec = cluster('a', { shares: { [CLUSTERS]: share }, ends: seconds }).allowance?.spec;
  return spec ? [spec] : [];
};

describe('committed', () => {
  it.each<readonly [string, LinkedCluster, number]>([
    ['what it was given', cluster('a', { shares: ONE }), 1],
    ['nothing where it has no share', cluster('a', { shares: NONE }), 0],
    ['what it adopted before, until it adopted less', cluster('a', { shares: NONE, adopted: ONE }), 1],
    ['what is in work beyond its share', cluster('a', { shares: NONE, used: ONE }), 1],
    [
      'what was sent and may still be adopted',
      cluster('a', { shares: NONE }, { adoptable: attempt(200) }),
      1,
    ],
    ['nothing that was sent and has ended', cluster('a', { shares: NONE }, { adoptable: attempt(-61) }), 0],
    ['a minute longer than it lasts', cluster('a', { shares: ONE, ends: -59 }), 1],
    ['its floor when it has ended', cluster('a', { shares: NONE, ends: -1 }), 1],
    ['its floor of a limit that it has not heard of', cluster('a', {}), 1],
    ['its floor before it adopted anything', cluster('a', {}, { allowance: undefined } as never), 1],
    ['the floor of one that another hub serves', cluster('a', { shares: NONE }, { state: 'OtherHub' }), 1],
    ['the floor of one that cannot be served', cluster('a', { shares: NONE }, { state: 'NotServed' }), 1],
  ])('counts %s', (_, each, expected) => {
    expect(counted(each)).toBe(expected);
  });

  it('counts everything that an earlier process may have given, until that has ended', () => {
    const unread = cluster('a', { shares: NONE }, { state: 'Unread' });
    expect(counted(unread, fleetPolicy(), 359)).toBe(1);
    expect(counted({ ...unread, state: 'Joining' }, fleetPolicy(), 359)).toBe(1);
    expect(counted(unread, fleetPolicy(REBOOT_RATE), 359)).toBe(6);
    expect(counted(unread, fleetPolicy(REBOOT_RATE), 361)).toBe(1);
    expect(counted(unread, fleetPolicy(), 361 + 3600)).toBe(0);
  });

  it.each([
    ['its share while that lasts', 200, 1],
    ['its floor and what it used for an hour', -3000, 1],
    ['nothing afterwards', -3700, 0],
  ])('counts of a cluster that is cut off %s', (_, ends, expected) => {
    const since = new Date(Math.min(+NOW, +new Date(ago(-ends))));
    const lost = cluster('a', { shares: ONE, ends }, { state: 'CutOff', since });
    expect(counted(lost)).toBe(expected);
  });

  it('counts the acts of a rate that a cluster used when it was cut off', () => {
    const has = { shares: { [REBOOTS]: 4 }, used: { [REBOOTS]: 3 }, ends: -120 };
    const lost = cluster('a', has, { state: 'CutOff', since: new Date(ago(300)) });
    expect(counted(lost, fleetPolicy(REBOOT_RATE))).toBe(3);
  });
});
