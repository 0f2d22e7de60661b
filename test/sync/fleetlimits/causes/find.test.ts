import { describe, expect, it } from 'vitest';
import type {
  FleetFailure,
  FleetPolicy,
  FleetPolicySpec,
  FoundCause,
} from '../../../../src/api/generated/types.ts';
import { causesFor, findCauses } from '../../../../src/sync/fleetlimits/causes/find.ts';
import type { LinkedCluster } from '../../../../src/sync/fleetlimits/fleet.ts';
import { ago, cluster, fleetPolicy, HELD_UPDATE, input } from '../builders.ts';

const COMMON_CAUSE = { clusters: 2, withinSeconds: 3600, holdSeconds: 3600, ignored: [] };

function failing(
  name: string,
  fields: Partial<FleetFailure> = {},
  more: Partial<LinkedCluster> = {},
): LinkedCluster {
  const failure: FleetFailure = {
    dimension: 'componentUpdate',
    value: 'kubelet-2',
    at: ago(60),
    message: 'it was rolled back',
    ...fields,
  };
  const found = cluster(name, {}, { commit: `commit-of-${name}`, ...more });
  const { allowance } = found;
  if (!allowance?.status) throw new Error('no allowance');
  return { ...found, allowance: { ...allowance, status: { ...allowance.status, failures: [failure] } } };
}

function policyWith(spec: Partial<FleetPolicySpec> = {}, causes: readonly FoundCause[] = []): FleetPolicy {
  const found = fleetPolicy({ commonCause: COMMON_CAUSE, ...spec });
  return { ...found, status: { conditions: [], causes } };
}

function causesOf(
  clusters: readonly LinkedCluster[],
  policy: FleetPolicy = policyWith(),
): readonly FoundCause[] {
  return findCauses(input(clusters, [policy])).get('fleet') ?? [];
}

function heldBy(clusters: readonly LinkedCluster[], fields: Partial<FoundCause> = {}) {
  return causesOf(clusters, policyWith({}, [{ ...HELD_UPDATE, ...fields }]));
}

describe('findCauses', () => {
  it('names what failed in so many clusters, and the commits that brought it', () => {
    const [found, ...others] = causesOf([failing('a'), failing('b', { at: ago(30) }), cluster('c')]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      dimension: 'componentUpdate',
      value: 'kubelet-2',
      clusters: [
        { cluster: 'a', commit: 'commit-of-a', at: ago(60) },
        { cluster: 'b', commit: 'commit-of-b', at: ago(30) },
      ],
      message: 'componentUpdate kubelet-2 failed in a, b: it was rolled back',
    });
    expect(Date.parse(found?.until ?? '') - Date.parse(found?.since ?? '')).toBe(3_600_000);
  });

  it.each<readonly [string, readonly LinkedCluster[], Partial<FleetPolicySpec>]>([
    ['fails in one cluster', [failing('a'), cluster('b')], {}],
    [
      'fails in fewer than git requires',
      [failing('a'), failing('b')],
      { commonCause: { ...COMMON_CAUSE, clusters: 3 } },
    ],
    ['failed too long ago in one', [failing('a'), failing('b', { at: ago(3601) })], {}],
    ['is something else in each', [failing('a'), failing('b', { value: 'kubelet-3' })], {}],
    ['is of another dimension', [failing('a'), failing('b', { dimension: 'osImage' })], {}],
    [
      'was ruled out in git',
      [failing('a'), failing('b')],
      { commonCause: { ...COMMON_CAUSE, ignored: ['componentUpdate=kubelet-2'] } },
    ],
    [
      'fails in clusters that are not selected',
      [failing('a', {}, { labels: { tier: 'test' } }), failing('b')],
      { clusterSelector: { all: false, matchLabels: { tier: 'test' } } },
    ],
  ])('holds nothing that %s', (_, clusters, spec) => {
    expect(causesOf(clusters, policyWith(spec))).toEqual([]);
  });

  it('counts nothing that a cluster reports to another hub', () => {
    expect(causesOf([failing('a', {}, { state: 'OtherHub' }), failing('b')])).toEqual([]);
  });

  it('counts what a cluster reported before it was cut off', () => {
    expect(causesOf([failing('a', {}, { state: 'CutOff' }), failing('b')])).toHaveLength(1);
  });

  describe('of what is held already', () => {
    it('keeps it until it has not failed for long enough', () => {
      expect(heldBy([cluster('a'), cluster('b')])).toEqual([HELD_UPDATE]);
      expect(heldBy([cluster('a'), cluster('b')], { until: ago(1) })).toEqual([]);
    });

    it('lets go what git rules out', () => {
      const commonCause = { ...COMMON_CAUSE, ignored: ['componentUpdate=kubelet-2'] };
      expect(causesOf([failing('a'), failing('b')], policyWith({ commonCause }, [HELD_UPDATE]))).toEqual([]);
    });
  });
});

describe('causesFor', () => {
  const policy = policyWith({ clusterSelector: { all: false, matchLabels: { tier: 'prod' } } });
  const prod = cluster('p', {}, { labels: { tier: 'prod' } });

  it('tells every selected cluster, and asks it for reports', () => {
    expect(causesFor(prod, [policy], new Map())).toEqual([]);
    const [found] = causesOf([failing('a'), failing('b')]);
    const causes = new Map([['fleet', found ? [found] : []]]);
    expect(causesFor(prod, [policy], causes)).toEqual([
      {
        dimension: 'componentUpdate',
        value: 'kubelet-2',
        policy: 'fleet',
        until: found?.until,
        message: found?.message,
      },
    ]);
  });

  it('tells nothing where no policy asks for it', () => {
    expect(causesFor(cluster('x'), [policy], new Map())).toBeUndefined();
    expect(causesFor(prod, [fleetPolicy()], new Map())).toBeUndefined();
  });

  it('tells once what two policies hold', () => {
    const [found] = causesOf([failing('a'), failing('b')]);
    const held = found ? [found] : [];
    const other = { ...policy, metadata: { name: 'other' } };
    const causes = new Map([
      ['fleet', held],
      ['other', held],
    ]);
    expect(causesFor(prod, [policy, other], causes)?.map((each) => each.policy)).toEqual(['fleet']);
  });
});
