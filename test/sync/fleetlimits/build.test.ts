import { describe, expect, it } from 'vitest';
import type { FleetAllowanceSpec, FleetPolicy } from '../../../src/api/generated/types.ts';
import { type BuildInput, buildAllowance, isDue } from '../../../src/sync/fleetlimits/build.ts';
import type { LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, HUB, input, NOW } from './builders.ts';

function inputOf(each: LinkedCluster, policies: readonly FleetPolicy[] = [fleetPolicy()]): BuildInput {
  const fleet = input([each], policies);
  return {
    cluster: each,
    input: fleet,
    plan: planShares(fleet),
    causes: new Map(),
    hub: HUB,
    epoch: 2,
    seq: 8,
  };
}

/** The cluster has what the plan wants it to have, since so many seconds. */
function current(seconds: number, change: Partial<FleetAllowanceSpec> = {}): BuildInput {
  const each = cluster('a', { shares: { [CLUSTERS]: 1 }, ends: 300 - seconds });
  const spec = { ...buildAllowance(inputOf(each)), until: ago(seconds - 300), at: ago(seconds), ...change };
  const { allowance } = each;
  return inputOf({ ...each, ...(allowance ? { allowance: { ...allowance, spec } } : {}) });
}

function due(built: BuildInput): boolean {
  return isDue(built, buildAllowance(built));
}

describe('buildAllowance', () => {
  it('lasts as long as the shortest of its policies permits', () => {
    const policies = [
      fleetPolicy({ allowanceSeconds: 600 }),
      fleetPolicy({ allowanceSeconds: 120 }, 'short'),
    ];
    const { until } = buildAllowance(inputOf(cluster('a'), policies));
    expect(Date.parse(until) - +NOW).toBe(120_000);
  });

  it('tells a cluster that waits why', () => {
    const waiting = cluster('a', { shares: { [CLUSTERS]: 0 }, requestedFor: 5 });
    const busy = cluster('b', { shares: { [CLUSTERS]: 1 }, used: { [CLUSTERS]: 1 } });
    const fleet = input([waiting, busy, { ...busy, name: 'c' }]);
    const built = { ...inputOf(waiting), input: fleet, plan: planShares(fleet) };
    expect(buildAllowance(built).limits[0]?.message).toBe('at most 2 clusters; counted: b, c');
  });
});

describe('isDue', () => {
  it.each<readonly [string, BuildInput, boolean]>([
    ['what is new', inputOf(cluster('a')), true],
    ['not what is the same', current(10), false],
    ['a renewal when half of its life is over', current(151), true],
    ['over what an earlier process wrote', current(10, { epoch: 1 }), true],
    ['over what another hub wrote', current(10, { hub: 'hub-2' }), true],
    [
      'nothing where no policy selects the cluster',
      inputOf({ ...cluster('a'), allowance: undefined } as never, []),
      false,
    ],
    ['nothing over nothing', current(200, { limits: [] }), true],
  ])('writes %s', (_, built, expected) => {
    expect(due(built)).toBe(expected);
  });

  it('writes once to a cluster that does not know a field yet', () => {
    const policies = [
      fleetPolicy({ commonCause: { clusters: 2, withinSeconds: 60, holdSeconds: 60, ignored: [] } }),
    ];
    const built = current(10);
    const asking = { ...built, input: { ...built.input, policies } };
    const { allowance } = built.cluster;
    const sent = {
      ...buildAllowance(asking),
      epoch: allowance?.spec.epoch ?? 0,
      seq: allowance?.spec.seq ?? 0,
    };
    expect(due(asking)).toBe(true);
    expect(due({ ...asking, sent })).toBe(false);
    expect(due({ ...asking, sent: { ...sent, seq: 3 } })).toBe(true);
  });

  it('writes where a policy only asks for reports', () => {
    const policy = fleetPolicy({ concurrency: [], failedRollouts: { max: 3, windowSeconds: 3600 } });
    const without = { ...inputOf(cluster('a'), [policy]).cluster, allowance: undefined } as never;
    expect(due(inputOf(without, [policy]))).toBe(true);
  });

  it('sends a write without an answer again after ten seconds', () => {
    const built = current(10);
    const { allowance } = built.cluster;
    const attempt = (seconds: number) => (allowance ? [{ ...allowance.spec, at: ago(seconds) }] : []);
    expect(due({ ...built, cluster: { ...built.cluster, attempts: attempt(9) } })).toBe(false);
    expect(due({ ...built, cluster: { ...built.cluster, attempts: attempt(10) } })).toBe(true);
  });
});
