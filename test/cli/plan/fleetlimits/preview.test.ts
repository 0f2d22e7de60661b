import { describe, expect, it } from 'vitest';
import type { FleetPolicy } from '../../../../src/api/generated/types.ts';
import { type FleetLimitsInput, previewFleetLimits } from '../../../../src/cli/plan/fleetlimits/preview.ts';
import { fleetLimitTexts } from '../../../../src/sync/preview/fleet-limits.ts';
import { ago, fleetPolicy, NOW } from '../../../sync/fleetlimits/builders.ts';
import { clusterIn, commitOf, rollingOut } from './builders.ts';

const CLUSTER = clusterIn('eu', 'eu-1');
const TARGETS = [rollingOut('eu-1', 5)];
const BOUND =
  'at most 2 clusters in work at once (fleet/clusters): this plan disturbs 1, none waits for another one of this plan';
const killSwitch = { engaged: true, scope: 'All', by: 'kim', reason: 'bad kernel' } as const;
const STOP = fleetPolicy({ concurrency: [], killSwitch }, 'kill-switch');
const STOPPED = 'stopped by FleetPolicy kill-switch in 1 cluster of the plan, by kim: bad kernel';

function texts(input: Partial<FleetLimitsInput>): readonly string[] {
  const same = commitOf(CLUSTER, fleetPolicy());
  return fleetLimitTexts(previewFleetLimits({ from: same, to: same, targets: TARGETS, now: NOW, ...input }));
}

describe('previewFleetLimits', () => {
  it('is absent where no limit over clusters concerns the commit', () => {
    const to = commitOf(CLUSTER);
    expect(previewFleetLimits({ from: undefined, to, targets: TARGETS, now: NOW })).toBeUndefined();
    const same = commitOf(CLUSTER, fleetPolicy());
    expect(previewFleetLimits({ from: same, to: same, targets: [], now: NOW })).toBeUndefined();
  });

  it('bounds the rollouts by the limits after the commit', () => {
    expect(texts({})).toEqual([BOUND]);
    expect(texts({ to: commitOf(CLUSTER) })).toEqual([
      'loosened by FleetPolicy fleet: no limit any more: clusters: at most 2 clusters in work at once',
    ]);
  });

  it.each<[name: string, hub: readonly FleetPolicy[], found: readonly string[]]>([
    ['the stop of a person, which git does not know', [STOP], [STOPPED, BOUND]],
    ['limits of another Pipeline', [fleetPolicy({}, 'other')], [BOUND, BOUND.replace('fleet/', 'other/')]],
    ['the declared limit before the one in the hub', [fleetPolicy({ concurrency: [] })], [BOUND]],
    [
      'no stop that has ended',
      [fleetPolicy({ concurrency: [], killSwitch: { ...killSwitch, until: ago(1) } }, 'kill-switch')],
      [BOUND],
    ],
  ])('takes from the hub %s', (_, fleetPolicies, found) => {
    expect(texts({ hub: { clusters: [CLUSTER], fleetPolicies } })).toEqual(found);
  });

  it('knows the clusters that only the hub has', () => {
    const declared = commitOf(fleetPolicy());
    const sides = { from: declared, to: declared };
    expect(texts(sides)).toEqual([]);
    expect(texts({ ...sides, hub: { clusters: [CLUSTER], fleetPolicies: [] } })).toEqual([BOUND]);
  });
});
