import { describe, expect, it } from 'vitest';
import type { FleetPolicy } from '../../../src/api/generated/types.ts';
import type { LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, input, REBOOT_RATE, REBOOTS } from './builders.ts';

const REGIONS = 'fleet/regions';
const regions = fleetPolicy({ concurrency: [{ name: 'regions', per: 'Region', max: 1, floor: 1 }] });

/** The shares of the limit, by cluster. */
function sharesOf(id: string, clusters: readonly LinkedCluster[], policies?: readonly FleetPolicy[]): object {
  const { shares } = planShares(input(clusters, policies));
  return Object.fromEntries([...shares].map(([name, limits]) => [name, limits.get(id)]));
}

const has = (share: number, more: object = {}) => ({ shares: { [CLUSTERS]: share }, ...more });
const inRegion = (share: number, more: object = {}) => ({ shares: { [REGIONS]: share }, ...more });
const ofReboots = (share: number, more: object = {}) => ({ shares: { [REBOOTS]: share }, ...more });
const used = { used: { [CLUSTERS]: 1 } };

describe('planShares', () => {
  it('hands out what no cluster asks for, one unit a cluster', () => {
    const all = ['a', 'b', 'c'].map((name) => cluster(name, has(0)));
    expect(sharesOf(CLUSTERS, all)).toEqual({ a: 1, b: 1, c: 0 });
  });

  it('fulfills the oldest request first', () => {
    const all = [
      cluster('a', has(0, { requestedFor: 10 })),
      cluster('b', has(0, { requestedFor: 90 })),
      cluster('c', has(1)),
    ];
    expect(sharesOf(CLUSTERS, all)).toMatchObject({ a: 0, b: 1 });
  });

  it('takes back what is not used for a request, and gives it only when the cluster adopted that', () => {
    const requesting = cluster('c', has(0, { requestedFor: 10 }));
    const before = [cluster('a', has(1, used)), cluster('b', has(1)), requesting];
    expect(sharesOf(CLUSTERS, before)).toEqual({ a: 1, b: 0, c: 0 });
    const lowered = [
      cluster('a', has(1, used)),
      cluster('b', has(0, { adopted: { [CLUSTERS]: 1 } })),
      requesting,
    ];
    expect(sharesOf(CLUSTERS, lowered)).toEqual({ a: 1, b: 0, c: 0 });
    const adopted = [cluster('a', has(1, used)), cluster('b', has(0)), requesting];
    expect(sharesOf(CLUSTERS, adopted)).toEqual({ a: 1, b: 0, c: 1 });
  });

  it('lets acts in work end and no other begin where every cluster is in work', () => {
    const all = [
      cluster('a', has(1, used)),
      cluster('b', has(1, used)),
      cluster('c', has(0, { requestedFor: 10 })),
    ];
    const { shares, waiting } = planShares(input(all));
    expect([...shares.values()].filter((limits) => limits.get(CLUSTERS) === 1)).toHaveLength(1);
    expect(waiting).toMatchObject([
      { cluster: 'c', limit: CLUSTERS, because: 'at most 2 clusters; counted: a, b' },
    ]);
  });

  it('takes nothing from a cluster that got its share a moment ago', () => {
    const keepsUntil = new Date(ago(-30));
    const all = [
      cluster('a', has(1), { keepsUntil }),
      cluster('b', has(1)),
      cluster('c', has(0, { requestedFor: 10 })),
    ];
    expect(sharesOf(CLUSTERS, all)).toEqual({ a: 1, b: 0, c: 0 });
  });

  it('takes nothing from a cluster that began to request earlier', () => {
    const limits = fleetPolicy({ rates: REBOOT_RATE.rates });
    const first = cluster('a', {
      shares: { [CLUSTERS]: 1, [REBOOTS]: 0 },
      requestedFor: 90,
      requests: [REBOOTS],
    });
    const all = [first, cluster('b', has(1, used)), cluster('c', has(0, { requestedFor: 10 }))];
    const { shares } = planShares(input(all, [limits]));
    expect(shares.get('a')?.get(CLUSTERS)).toBe(1);
  });

  it('gives no more while more is in use than allowed, also where the clusters are counted anyway', () => {
    const all = ['a', 'b', 'c'].map((name) => cluster(name, has(0, { ...used, requestedFor: 10 })));
    expect(sharesOf(CLUSTERS, all)).toEqual({ a: 0, b: 0, c: 0 });
  });

  it('takes back what is too much after git lowered the limit', () => {
    const one = fleetPolicy({ concurrency: [{ name: 'clusters', per: 'Cluster', max: 1, floor: 1 }] });
    expect(sharesOf(CLUSTERS, [cluster('a', has(1, used)), cluster('b', has(1))], [one])).toEqual({
      a: 1,
      b: 0,
    });
  });

  it('counts a region once, and frees it only as a whole', () => {
    const eu = [cluster('eu-1', inRegion(1, { used: { [REGIONS]: 1 } })), cluster('eu-2', inRegion(0))];
    expect(sharesOf(REGIONS, eu, [regions])).toEqual({ 'eu-1': 1, 'eu-2': 1 });
    const idle = [
      cluster('eu-1', inRegion(1)),
      cluster('eu-2', inRegion(1)),
      cluster('us-1', inRegion(0, { requestedFor: 9 })),
    ];
    expect(sharesOf(REGIONS, idle, [regions])).toEqual({ 'eu-1': 0, 'eu-2': 0, 'us-1': 0 });
  });

  it('takes no region back in which a cluster is cut off, because that would free nothing', () => {
    const two = fleetPolicy({ concurrency: [{ name: 'regions', per: 'Region', max: 2, floor: 1 }] });
    const lost = cluster('eu-2', inRegion(1), { state: 'CutOff' });
    const all = [
      cluster('eu-1', inRegion(1)),
      lost,
      cluster('us-1', inRegion(1)),
      cluster('ap-1', inRegion(0, { requestedFor: 9 }), { region: 'ap' }),
    ];
    expect(sharesOf(REGIONS, all, [two])).toEqual({ 'eu-1': 1, 'us-1': 0, 'ap-1': 0 });
  });

  it('moves the unused acts of a rate, and never those that were used', () => {
    const all = [
      cluster('a', ofReboots(4, { used: { [REBOOTS]: 3 } })),
      cluster('b', ofReboots(2, { used: { [REBOOTS]: 2 }, requestedFor: 10 })),
    ];
    expect(sharesOf(REBOOTS, all, [fleetPolicy(REBOOT_RATE)])).toEqual({ a: 3, b: 2 });
  });

  it('gives a cluster with many requests one act, and then another cluster its turn', () => {
    const many = cluster('a', ofReboots(0, { requestedFor: 60 }));
    const uses = many.allowance?.status?.limits?.map((use) => ({ ...use, requested: 500 })) ?? [];
    const { allowance } = many;
    const status = { conditions: [], ...allowance?.status, limits: uses };
    const greedy = { ...many, ...(allowance ? { allowance: { ...allowance, status } } : {}) };
    const all = [greedy, cluster('b', ofReboots(0, { requestedFor: 5 }))];
    expect(sharesOf(REBOOTS, all, [fleetPolicy(REBOOT_RATE)])).toEqual({ a: 1, b: 1 });
  });

  it('holds nothing up for a cluster whose Defender renews nothing, or whose clock is wrong', () => {
    const dead = cluster('a', has(0, { requestedFor: 60, ends: -5 }));
    const skewed = cluster('b', has(0, { requestedFor: 60 }), { isSkewed: true });
    const all = [dead, skewed, cluster('c', has(0, { requestedFor: 5 }))];
    const { shares, waiting } = planShares(input(all));
    expect(shares.get('c')?.get(CLUSTERS)).toBe(1);
    expect(waiting).toEqual([]);
  });

  it('gives a cluster whose clock is wrong nothing beyond its use', () => {
    const all = [cluster('a', has(1), { isSkewed: true }), cluster('b', has(0))];
    expect(sharesOf(CLUSTERS, all)).toEqual({ a: 0, b: 1 });
  });

  it('keeps what a cluster has while it is not joined, and gives others only what is left', () => {
    const joining = cluster('a', has(1), { state: 'Joining' });
    const fresh = {
      ...input([joining, cluster('b', has(0)), cluster('c', has(0))]),
      takeover: input([]).now,
    };
    const { shares } = planShares(fresh);
    expect([...shares].map(([name, limits]) => [name, limits.get(CLUSTERS)])).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 0],
    ]);
  });

  it('limits only the clusters that a policy selects', () => {
    const prod = fleetPolicy({ clusterSelector: { all: false, matchLabels: { tier: 'prod' } } });
    const { shares } = planShares(input([cluster('a', has(0))], [prod]));
    expect(shares.get('a')?.size).toBe(0);
  });
});
