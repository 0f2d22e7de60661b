import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cluster, FleetPolicySpec } from '../../../../src/api/generated/types.ts';
import { planFleetBounds } from '../../../../src/cli/plan/fleetlimits/bounds.ts';
import type { TargetPreview } from '../../../../src/sync/preview/preview.ts';
import { fleetPolicy } from '../../../sync/fleetlimits/builders.ts';
import { clusterIn, rollingOut, UNCHANGED } from './builders.ts';

const CLUSTERS = [
  clusterIn('eu', 'eu-1', { tier: 'gold' }),
  clusterIn('eu', 'eu-2'),
  clusterIn('us', 'us-1'),
  clusterIn('us', 'us-2'),
  clusterIn('us', 'us-3'),
];
const ALL = CLUSTERS.map(({ metadata }) => rollingOut(metadata.name, 10));
const UNKNOWN: TargetPreview = { target: 'us-3', by: 'unknown', units: [] };

function rate(max: number, actions: FleetPolicySpec['rates'][number]['actions']): Partial<FleetPolicySpec> {
  const rates = [{ name: 'acts', actions, max, windowSeconds: 3600, floor: 1 }];
  return { concurrency: [], rates };
}

function work(
  max: number,
  per: FleetPolicySpec['concurrency'][number]['per'] = 'Cluster',
): Partial<FleetPolicySpec> {
  return { concurrency: [{ name: 'work', per, max, floor: 1 }] };
}

function because(spec: Partial<FleetPolicySpec>, targets: readonly TargetPreview[]): string {
  const found = planFleetBounds({ policies: [fleetPolicy(spec)], clusters: CLUSTERS, targets });
  return found.map((bound) => bound.because).join('; ');
}

const HEAD_2 = 'at most 2 of 5 clusters in work at once (fleet/work)';

describe('planFleetBounds', () => {
  it.each<[name: string, spec: Partial<FleetPolicySpec>, targets: readonly TargetPreview[], text: string]>([
    ['has nothing to say without rollouts', work(2), [{ target: 'eu-1', ...UNCHANGED }], ''],
    ['has nothing to say of the hub and of clusters that are not known', work(2), [rollingOut('x', 3)], ''],
    [
      'counts how many times clusters follow each other',
      work(2),
      ALL,
      `${HEAD_2}: this plan disturbs 5, in at least 3 turns`,
    ],
    [
      'tells when all fit',
      work(2),
      ALL.slice(0, 2),
      `${HEAD_2}: this plan disturbs 2, none waits for another one of this plan`,
    ],
    [
      'does not count machines whose node stays in service',
      work(2),
      [rollingOut('eu-1', 10, 0)],
      `${HEAD_2}: this plan disturbs none`,
    ],
    [
      'counts regions',
      work(1, 'Region'),
      ALL,
      'at most 1 of 2 regions in work at once (fleet/work): this plan disturbs 2, in at least 2 turns',
    ],
    [
      'counts only selected clusters',
      { ...work(2), clusterSelector: { all: false, matchLabels: { tier: 'gold' } } },
      ALL,
      'at most 2 clusters in work at once (fleet/work): this plan disturbs 1, none waits for another one of this plan',
    ],
    [
      'does not take a cluster that is not known for one without machines',
      work(2),
      [rollingOut('eu-1', 10), UNKNOWN],
      `${HEAD_2}: this plan disturbs 1, none waits for another one of this plan; not known for 1 cluster`,
    ],
    [
      'tells also where nothing is known',
      work(2),
      [{ ...UNCHANGED, target: 'us-1', rollouts: { state: 'Unknown', because: 'no rights' } }],
      `${HEAD_2}: this plan disturbs none; not known for 1 cluster`,
    ],
    [
      'computes the shortest time of a rate: the first period needs none',
      rate(20, []),
      ALL,
      'at most 20 acts that take a node down in 1 h (fleet/acts): this plan needs 50, so at least 2 h',
    ],
    [
      'needs no time for what fits into one period',
      rate(50, []),
      ALL,
      'at most 50 acts that take a node down in 1 h (fleet/acts): this plan needs 50, which fit into one period',
    ],
    [
      'counts every act of a name, whatever it disturbs',
      rate(5, ['UpdateComponent']),
      [rollingOut('eu-1', 6, 0)],
      'at most 5 acts UpdateComponent in 1 h (fleet/acts): this plan needs 6, so at least 1 h',
    ],
    [
      'counts by risk where no act is named',
      rate(5, []),
      [rollingOut('eu-1', 6, 0)],
      'at most 5 acts that take a node down in 1 h (fleet/acts): this plan needs none',
    ],
    [
      'tells that a rate of repairs does not bound a rollout',
      rate(20, ['Reboot', 'PowerCycle']),
      ALL,
      'at most 20 acts Reboot, PowerCycle in 1 h (fleet/acts): counts repairs, and none of the rollouts of this plan',
    ],
  ])('%s', (_, spec, targets, text) => {
    expect(because(spec, targets)).toBe(text);
  });

  it('gives programs the numbers behind the sentence', () => {
    const policies = [fleetPolicy({ ...work(2), rates: rate(20, []).rates ?? [] })];
    const bounds = planFleetBounds({ policies, clusters: CLUSTERS, targets: ALL });
    expect(bounds).toMatchObject([
      { id: 'fleet/work', max: 2, needed: 5, total: 5, unknownClusters: 0, leastTurns: 3 },
      { id: 'fleet/acts', max: 20, needed: 50, unknownClusters: 0, leastSeconds: 7200 },
    ]);
  });

  it('promises exactly the time of the fastest schedule within a rate, and so never more than it takes', () => {
    const counts = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 12 }), (perCluster, max) => {
        const targets = perCluster.map((acts, index) => rollingOut(nameAt(index), acts));
        const policies = [fleetPolicy(rate(max, []))];
        const [bound] = planFleetBounds({ policies, clusters: CLUSTERS, targets });
        const acts = perCluster.reduce((sum, each) => sum + each, 0);
        expect(bound?.leastSeconds ?? 0).toBe(lastStart(acts, max));
      }),
    );
  });
});

/** When the last act begins if each one begins as soon as fewer than `max` began within the hour before. */
function lastStart(acts: number, max: number): number {
  const starts: number[] = [];
  for (let act = 0; act < acts; act += 1) starts.push((starts[act - max] ?? -3600) + 3600);
  return starts.at(-1) ?? 0;
}

function nameAt(index: number): string {
  const cluster: Cluster | undefined = CLUSTERS[index];
  return cluster?.metadata.name ?? '';
}
