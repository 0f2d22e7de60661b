import { describe, expect, it } from 'vitest';
import type { Cluster, FleetPolicy } from '../../../src/api/generated/types.ts';
import { findCauses } from '../../../src/sync/fleetlimits/causes/find.ts';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { fleetPolicyStatus } from '../../../src/sync/fleetlimits/status.ts';
import { explainFleetLimits, formatFleetLimits } from '../../../src/views/fleet/limits.ts';
import { condition } from '../../support/builders.ts';
import { ago, CLUSTERS, cluster, fleetPolicy, input, NOW } from '../../sync/fleetlimits/builders.ts';

const WORKING = { shares: { [CLUSTERS]: 1 }, used: { [CLUSTERS]: 1 } };
const CLUSTERS_OF_FLEET = [
  cluster('a', WORKING),
  cluster('b', WORKING),
  cluster('c', { shares: { [CLUSTERS]: 0 }, requestedFor: 60 }),
  cluster('d', {}, { state: 'CutOff', because: 'no route to host', since: new Date(ago(600)) }),
];
const policy = fleetPolicy();
const fleet = input(CLUSTERS_OF_FLEET, [policy]);
const POLICIES = [
  {
    ...policy,
    status: fleetPolicyStatus(policy, { input: fleet, plan: planShares(fleet), causes: findCauses(fleet) }),
  },
];

const HELD: FleetPolicy = {
  ...fleetPolicy({ failedRollouts: { max: 3, windowSeconds: 3600 } }),
  status: {
    conditions: [
      condition('InForce', 'True'),
      condition('CommonCauseFound', 'True', {
        message: 'componentUpdate kubelet-2 failed in a, b: it went back',
      }),
    ],
    failedRollouts: 2,
    causes: [
      {
        dimension: 'componentUpdate',
        value: 'kubelet-2',
        since: ago(120),
        until: ago(-3480),
        clusters: [
          { cluster: 'a', at: ago(120) },
          { cluster: 'b', at: ago(60) },
        ],
        message: 'componentUpdate kubelet-2 failed in a, b: it went back',
      },
    ],
  },
};

function clusterNamed(name: string): Pick<Cluster, 'metadata' | 'spec'> {
  return { metadata: { name }, spec: { environment: 'prod' } as Cluster['spec'] };
}

describe('formatFleetLimits', () => {
  it('shows phase, use, who waits and what is not served', () => {
    const text = formatFleetLimits(POLICIES, NOW);
    expect(text).toMatch(/fleet +CutOff +3\/4 +d: each continues at its floor/);
    expect(text).toMatch(/fleet\/clusters +2 +3 +2/);
    expect(text).toMatch(/c +fleet\/clusters +60s +at most 2 clusters; counted: a, b, d/);
    expect(text).toMatch(/d +10m +CutOff: no route to host/);
  });

  it('shows what failed in several clusters, until when it is held, and how many rollouts failed', () => {
    const text = formatFleetLimits([HELD], NOW);
    expect(text).toMatch(/fleet +Held +0\/0 +componentUpdate kubelet-2 failed in a, b: it went back/);
    expect(text).toMatch(/componentUpdate=kubelet-2 +2 +2m +\S+Z +componentUpdate kubelet-2 failed in a, b/);
    expect(text).toMatch(/fleet: failed rollouts in 1 h +2 +- +3/);
  });

  it('tells what to do where the hub has none, and where sync does not run', () => {
    expect(formatFleetLimits([], NOW)).toContain('the hub has no FleetPolicy');
    expect(formatFleetLimits([policy], NOW)).toContain('does kubenode sync run?');
  });
});

describe('explainFleetLimits', () => {
  it.each([
    ['a', 'cluster a waits for no limit over clusters\n'],
    ['c', 'waits for a share of fleet/clusters since 60s: at most 2 clusters; counted: a, b, d\n'],
    ['d', 'not served since 10m: CutOff: no route to host; it continues at its floor\n'],
  ])('answers for cluster %s', (name, text) => {
    expect(explainFleetLimits(POLICIES, clusterNamed(name), NOW)).toBe(text);
  });

  it('names what is held in the cluster, and not what is held in others', () => {
    expect(explainFleetLimits([HELD], clusterNamed('c'), NOW)).toBe(
      `held since 2m, until ${ago(-3480)}: componentUpdate=kubelet-2: componentUpdate kubelet-2 failed in a, b: it went back\n`,
    );
    const clusterSelector = { all: false, matchLabels: { tier: 'test' } };
    const elsewhere = { ...HELD, spec: { ...HELD.spec, clusterSelector } };
    expect(explainFleetLimits([elsewhere], clusterNamed('c'), NOW)).toContain('waits for no limit');
  });
});
