import { describe, expect, it } from 'vitest';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { fleetPolicyStatus } from '../../../src/sync/fleetlimits/status.ts';
import { explainFleetLimits, formatFleetLimits } from '../../../src/views/fleet/limits.ts';
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
  { ...policy, status: fleetPolicyStatus(policy, { input: fleet, plan: planShares(fleet) }) },
];

describe('formatFleetLimits', () => {
  it('shows phase, use, who waits and what is not served', () => {
    const text = formatFleetLimits(POLICIES, NOW);
    expect(text).toMatch(/fleet +CutOff +3\/4 +d: each continues at its floor/);
    expect(text).toMatch(/fleet\/clusters +2 +3 +2/);
    expect(text).toMatch(/c +fleet\/clusters +60s +at most 2 clusters; counted: a, b, d/);
    expect(text).toMatch(/d +10m +CutOff: no route to host/);
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
    expect(explainFleetLimits(POLICIES, name, NOW)).toBe(text);
  });
});
