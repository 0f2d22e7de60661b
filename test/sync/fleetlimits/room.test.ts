import { describe, expect, it } from 'vitest';
import type { FleetPolicySpec } from '../../../src/api/generated/types.ts';
import { fleetLimitsOf, type LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { createRoom, type ShareRoom } from '../../../src/sync/fleetlimits/room.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, input, REBOOT_RATE, REBOOTS } from './builders.ts';

function roomOf(clusters: readonly LinkedCluster[], spec: Partial<FleetPolicySpec> = {}): ShareRoom {
  const policy = fleetPolicy(spec);
  const [limit] = fleetLimitsOf([policy]);
  if (!limit) throw new Error('the policy has a limit');
  return createRoom(limit, input(clusters, [policy]));
}

const REGIONS = { concurrency: [{ name: 'clusters', per: 'Region', max: 1, floor: 1 }] } as const;
const has = (share: number, used = 0) => ({ shares: { [CLUSTERS]: share }, used: { [CLUSTERS]: used } });

describe('createRoom', () => {
  it('raises shares until the limit is reached', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => cluster(name, has(0))) as [
      LinkedCluster,
      LinkedCluster,
      LinkedCluster,
    ];
    const room = roomOf([a, b, c]);
    expect([room.raise(a, 0, 1), room.raise(b, 0, 1), room.raise(c, 0, 1)]).toEqual([1, 1, 0]);
    expect(room.total()).toBe(2);
  });

  it('raises a rate as far as there is room', () => {
    const a = cluster('a', { shares: { [REBOOTS]: 1 } });
    const b = cluster('b', { shares: { [REBOOTS]: 4 } });
    expect(roomOf([a, b], REBOOT_RATE).raise(a, 1, 5)).toBe(2);
  });

  it('takes nothing for another cluster of a region that is counted', () => {
    const [first, second] = [cluster('eu-1', has(1)), cluster('eu-2', has(0))];
    const room = roomOf([first, second], REGIONS);
    expect(room.raise(second, 0, 1)).toBe(1);
    expect(room.total()).toBe(1);
  });

  it('raises nothing once something is reserved, or too much is in use', () => {
    const [a, b] = [cluster('a', has(0)), cluster('b', has(0))];
    const reserved = roomOf([a, b]);
    reserved.reserve({ count: 1, since: new Date(ago(5)) });
    expect(reserved.raise(a, 0, 1)).toBe(0);
    const busy = ['x', 'y', 'z'].map((name) => cluster(name, has(0, 1)));
    const full = roomOf(busy);
    expect(full.total()).toBe(3);
    const [first] = busy;
    expect(first && full.raise(first, 0, 1)).toBe(0);
  });
});
