import { describe, expect, it } from 'vitest';
import type { FleetPolicy } from '../../../src/api/generated/types.ts';
import { findCauses } from '../../../src/sync/fleetlimits/causes/find.ts';
import { planShares } from '../../../src/sync/fleetlimits/plan.ts';
import { fleetPolicyStatus } from '../../../src/sync/fleetlimits/status.ts';
import { type FleetPolicyView, viewFleetPolicy } from '../../../src/views/fleet/policy-view.ts';
import {
  ago,
  CLUSTERS,
  cluster,
  fleetPolicy,
  input,
  NOW,
  REBOOT_RATE,
} from '../../sync/fleetlimits/builders.ts';

const WORKING = { shares: { [CLUSTERS]: 1 }, used: { [CLUSTERS]: 1 } };
const LOST = { state: 'CutOff', because: 'no route to host', since: new Date(ago(600)) } as const;

/** The view of a policy, with the status that sync reports of these clusters. */
function viewReported(policy: FleetPolicy, clusters: Parameters<typeof input>[0]): FleetPolicyView {
  const fleet = input(clusters, [policy]);
  return viewFleetPolicy(
    {
      ...policy,
      status: fleetPolicyStatus(policy, { input: fleet, plan: planShares(fleet), causes: findCauses(fleet) }),
    },
    NOW,
  );
}

describe('viewFleetPolicy', () => {
  it('shows the use of each limit, who waits and why, and what is not served', () => {
    const clusters = [
      cluster('a', WORKING),
      cluster('b', WORKING),
      cluster('c', { shares: { [CLUSTERS]: 0 }, requestedFor: 60 }),
      cluster('d', {}, LOST),
    ];
    expect(viewReported(fleetPolicy(), clusters)).toEqual({
      name: 'fleet',
      phase: 'CutOff',
      because: 'd: each continues at its floor when its allowance has ended',
      clusters: { total: 4, current: 3 },
      limits: [{ id: CLUSTERS, counts: 'clusters in work at once', max: 2, use: { used: 2, handedOut: 3 } }],
      held: [],
      waiting: [
        {
          cluster: 'c',
          limit: CLUSTERS,
          since: new Date(ago(60)).toISOString(),
          because: 'at most 2 clusters; counted: a, b, d',
        },
      ],
      notServed: [
        { cluster: 'd', since: new Date(ago(600)).toISOString(), because: 'CutOff: no route to host' },
      ],
    });
  });

  it('shows what failed in several clusters, since when and until when it is held', () => {
    const cause = {
      dimension: 'kernelVersion',
      value: '6.9',
      since: ago(60),
      until: ago(-60),
      clusters: [],
      message: 'it failed in a, b',
    } as const;
    const policy = { ...fleetPolicy(), status: { conditions: [], causes: [cause] } };
    expect(viewFleetPolicy(policy, NOW).held).toEqual([
      { cause: 'kernelVersion=6.9', since: ago(60), until: ago(-60), because: 'it failed in a, b' },
    ]);
  });

  it('shows the limits that git declares while their use is not reported', () => {
    const policy = fleetPolicy(REBOOT_RATE);
    const { phase, because, limits, waiting } = viewFleetPolicy(policy, NOW);
    expect([phase, because, waiting]).toEqual([
      'NotReady',
      'no process of sync has acted on it yet: does kubenode sync run?',
      [],
    ]);
    expect(limits).toEqual([{ id: 'fleet/reboots', counts: 'acts Reboot in 1 h', max: 6 }]);
  });

  const STOP = { engaged: true, scope: 'All', by: 'kim', reason: 'bad kernel image' } as const;
  const SHOWN = {
    scope: 'All',
    by: 'kim',
    reason: 'bad kernel image',
    progress: 'no process of sync has acted on it yet: does kubenode sync run?',
  };
  it.each<[name: string, policy: FleetPolicy, stop: object | undefined]>([
    ['shows no stop where none is engaged', fleetPolicy(), undefined],
    ['shows no stop that has ended', fleetPolicy({ killSwitch: { ...STOP, until: ago(1) } }), undefined],
    [
      'names the command that ends the stop of a person, and since when it is',
      stopped(fleetPolicy({ killSwitch: STOP, clusterSelector: { all: true } }), 'kill-switch'),
      {
        ...SHOWN,
        isForAll: true,
        holdsPromotion: true,
        since: ago(30),
        resume: 'kubenode fleet resume',
      },
    ],
    [
      'names the commit that ends a stop in git',
      fleetPolicy({ killSwitch: STOP, clusterSelector: { all: false, matchLabels: { tier: 'gold' } } }),
      {
        ...SHOWN,
        isForAll: false,
        holdsPromotion: false,
        resume: 'remove spec.killSwitch of FleetPolicy fleet in the fleet repository',
      },
    ],
    [
      'does not hold promotion for a stop of repairs',
      stopped(fleetPolicy({ killSwitch: { ...STOP, scope: 'Remedy' } }), 'kill-switch'),
      {
        ...SHOWN,
        scope: 'Remedy',
        isForAll: true,
        holdsPromotion: false,
        since: ago(30),
        resume: 'kubenode fleet resume',
      },
    ],
  ])('%s', (_, policy, stop) => {
    expect(viewFleetPolicy(policy, NOW).stop).toEqual(stop);
  });

  it('tells how many clusters have stopped, and since when', () => {
    const { stop } = viewReported(fleetPolicy({ killSwitch: STOP }), [cluster('a')]);
    expect(stop).toMatchObject({
      since: ago(0),
      progress: '0 of 1 clusters have stopped',
    });
  });
});

function stopped(policy: FleetPolicy, name: string): FleetPolicy {
  return { ...policy, metadata: { ...policy.metadata, name, creationTimestamp: ago(30) } };
}
