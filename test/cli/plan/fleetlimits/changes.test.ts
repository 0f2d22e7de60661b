import { describe, expect, it } from 'vitest';
import type { FleetPolicy, FleetPolicySpec } from '../../../../src/api/generated/types.ts';
import { planPolicyChanges } from '../../../../src/cli/plan/fleetlimits/changes.ts';
import { fleetPolicy, REBOOT_RATE } from '../../../sync/fleetlimits/builders.ts';
import { clusterIn } from './builders.ts';

const CLUSTERS = [
  clusterIn('eu', 'eu-1', { tier: 'gold' }),
  clusterIn('us', 'us-1', { tier: 'iron' }),
  clusterIn('us', 'us-2'),
];
const STOP = { engaged: true, scope: 'All', by: 'kim', reason: 'bad kernel' } as const;
const [REBOOTS] = REBOOT_RATE.rates;
const tier = (...values: readonly string[]): Partial<FleetPolicySpec> => ({
  clusterSelector: { all: false, matchExpressions: [{ key: 'tier', operator: 'In', values }] },
});

function work(
  fields: Partial<FleetPolicySpec['concurrency'][number]>,
  more: Partial<FleetPolicySpec> = {},
): FleetPolicy {
  return fleetPolicy({
    concurrency: [{ name: 'clusters', per: 'Cluster', max: 3, floor: 1, ...fields }],
    ...more,
  });
}

function rates(fields: Partial<FleetPolicySpec['rates'][number]>): FleetPolicy {
  return fleetPolicy({ concurrency: [], rates: [{ ...REBOOTS, ...fields }] });
}

function changes(before: FleetPolicy | undefined, after: FleetPolicy | undefined): readonly string[] {
  const found = planPolicyChanges({
    before: before ? [before] : [],
    after: after ? [after] : [],
    clusters: CLUSTERS,
  });
  return found.map(({ policy, effect, text }) => `${policy} ${effect}: ${text}`);
}

describe('planPolicyChanges', () => {
  it.each<[name: string, before: FleetPolicy | undefined, after: FleetPolicy | undefined, texts: string[]]>([
    ['has nothing to say of a policy that stays', work({}), work({}), []],
    ['shows a higher maximum', work({}), work({ max: 5 }), ['fleet Loosened: clusters: max 3 → 5']],
    ['shows a lower maximum', work({}), work({ max: 1 }), ['fleet Tightened: clusters: max 3 → 1']],
    ['shows a lower floor', work({}), work({ floor: 0 }), ['fleet Tightened: clusters: floor 1 → 0']],
    [
      'shows what is counted now',
      work({}),
      work({ per: 'Label', labelKey: 'zone' }),
      ['fleet Changed: clusters: clusters in work at once → values of label zone in work at once'],
    ],
    [
      'shows a new policy as new limits',
      undefined,
      work({}),
      ['fleet Tightened: new limit clusters: at most 3 clusters in work at once'],
    ],
    [
      'shows a policy that is deleted as limits that hold no longer',
      fleetPolicy({ rates: REBOOT_RATE.rates }),
      undefined,
      [
        'fleet Loosened: no limit any more: clusters: at most 2 clusters in work at once',
        'fleet Loosened: no limit any more: reboots: at most 6 acts Reboot in 1 h',
      ],
    ],
    [
      'takes a rate for another limit than one of acts in work with its name',
      work({ name: 'reboots' }),
      rates({}),
      [
        'fleet Loosened: no limit any more: reboots: at most 3 clusters in work at once',
        'fleet Tightened: new limit reboots: at most 6 acts Reboot in 1 h',
      ],
    ],
    [
      'shows both where a maximum and its period grow',
      rates({}),
      rates({ max: 12, windowSeconds: 7200 }),
      ['fleet Loosened: reboots: max 6 → 12', 'fleet Tightened: reboots: period 1 h → 2 h'],
    ],
    [
      'shows a rate that counts more acts as tighter',
      rates({}),
      rates({ actions: ['Reboot', 'PowerCycle'] }),
      ['fleet Tightened: reboots: acts Reboot → acts Reboot, PowerCycle'],
    ],
    [
      'shows a rate that counts fewer acts as looser',
      rates({ actions: ['Reboot', 'PowerCycle'] }),
      rates({}),
      ['fleet Loosened: reboots: acts Reboot, PowerCycle → acts Reboot'],
    ],
    [
      'does not compare names with a risk',
      rates({}),
      rates({ actions: [] }),
      ['fleet Changed: reboots: acts Reboot → acts that take a node down'],
    ],
    [
      'shows other acts as changed',
      rates({}),
      rates({ actions: ['Drain'] }),
      ['fleet Changed: reboots: acts Reboot → acts Drain'],
    ],
    [
      'names the clusters for which a policy is new',
      work({}, tier('gold')),
      work({}, tier('gold', 'iron')),
      ['fleet Tightened: also for us-1'],
    ],
    [
      'names the clusters that a policy does not bound any more',
      work({}),
      work({}, tier('gold')),
      ['fleet Loosened: no longer for us-1, us-2'],
    ],
    [
      'names both where a policy moves to other clusters',
      work({}, tier('gold')),
      work({}, tier('iron')),
      ['fleet Changed: also for us-1; no longer for eu-1'],
    ],
    [
      'shows a selector that has the same effect',
      work({}, tier('gold')),
      work({}, { clusterSelector: { all: false, matchLabels: { tier: 'gold' } } }),
      ['fleet Changed: selects the same clusters in another way'],
    ],
    [
      'shows how long clusters count that are not reached',
      work({}),
      work({}, { allowanceSeconds: 600, cutOff: { countSeconds: 0 } }),
      [
        'fleet Changed: an allowance lasts 5 min → 10 min',
        'fleet Loosened: a cluster that is not reached counts for 1 h → 0 s',
      ],
    ],
    [
      'shows a stop in git first',
      work({}),
      work({ max: 1 }, { killSwitch: { ...STOP, until: '2030-01-02T00:00:00Z' } }),
      [
        'fleet Stops: scope All until 2030-01-02T00:00:00Z, by kim: bad kernel',
        'fleet Tightened: clusters: max 3 → 1',
      ],
    ],
    [
      'shows a stop that git ends',
      work({}, { killSwitch: STOP }),
      work({}),
      ['fleet Resumes: git stops nothing any more'],
    ],
    [
      'shows that a policy is deleted which stops the fleet',
      fleetPolicy({ concurrency: [], killSwitch: STOP }),
      undefined,
      ['fleet Resumes: git stops nothing any more'],
    ],
  ])('%s', (_, before, after, texts) => {
    expect(changes(before, after)).toEqual(texts);
  });

  it('sorts by policy, and names at most five clusters', () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => clusterIn('eu', name));
    const empty = { concurrency: [], clusterSelector: { all: false } };
    const found = planPolicyChanges({
      before: [fleetPolicy(empty, 'z'), fleetPolicy({}, 'y')],
      after: [fleetPolicy({ concurrency: [] }, 'z')],
      clusters: many,
    });
    expect(found.map(({ policy, text }) => `${policy} ${text}`)).toEqual([
      'y no limit any more: clusters: at most 2 clusters in work at once',
      'z also for a, b, c, d, e and 2 more',
    ]);
  });
});
