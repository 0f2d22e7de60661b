import { describe, expect, it } from 'vitest';
import type { FoundCause, KillSwitch, Pipeline } from '../../../src/api/generated/types.ts';
import { pausedReason } from '../../../src/api/status/pauses.ts';
import { haltedByFleet, holdsOfFleet, stopOfFleet } from '../../../src/sync/fleetlimits/halted-hub.ts';
import { ago, fleetPolicy, HELD_UPDATE, NOW } from './builders.ts';

const STOP: KillSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' };
const PIPELINE = { metadata: { name: 'fleet' }, spec: { paused: false } } as unknown as Pipeline;

const UPDATE: FoundCause = {
  ...HELD_UPDATE,
  until: ago(-60),
  clusters: [
    { cluster: 'a', commit: 'c-1', at: ago(60) },
    { cluster: 'b', commit: 'c-2', at: ago(60) },
  ],
};
const HELD = { ...fleetPolicy(), status: { conditions: [], causes: [UPDATE] } };

describe('stopOfFleet', () => {
  it.each<readonly [string, Partial<KillSwitch>, boolean, boolean]>([
    ['of everything', {}, true, true],
    ['of rollouts', { scope: 'Rollout' }, true, true],
    ['of repairs only: no', { scope: 'Remedy' }, true, false],
    ['that has ended: no', { until: ago(0) }, true, false],
    ['that has not ended', { until: ago(-1) }, true, true],
    ['that is not engaged: no', { engaged: false }, true, false],
    ['of some clusters: no', {}, false, false],
  ])('finds a stop %s', (_, stop, all, expected) => {
    const clusterSelector = all ? { all } : { all, matchLabels: { tier: 'prod' } };
    const policy = fleetPolicy({ clusterSelector, killSwitch: { ...STOP, ...stop } });
    expect(stopOfFleet([fleetPolicy(), policy], NOW)).toBe(expected ? policy : undefined);
  });
});

describe('haltedByFleet', () => {
  const hub = { pipeline: () => Promise.resolve(PIPELINE), pipelines: () => Promise.resolve([PIPELINE]) };

  it('shows every Pipeline as halted, with who stopped the fleet and how to continue', async () => {
    const stopped = haltedByFleet(hub, {
      stop: () => fleetPolicy({ killSwitch: STOP }, 'kill-switch'),
      holds: () => [],
    });
    const found = [await stopped.pipeline(), ...(await stopped.pipelines())];
    const text =
      'pipeline fleet was halted by ann (FleetPolicy kill-switch): bad image. To continue, run: kubenode fleet resume';
    expect(found.map((pipeline) => pausedReason(pipeline))).toEqual([text, text]);
  });

  it('changes nothing while the fleet is not stopped', async () => {
    const holds = holdsOfFleet([HELD], NOW);
    const open = haltedByFleet(hub, { stop: () => undefined, holds: () => holds });
    expect(await open.pipeline()).toBe(PIPELINE);
    expect(open.holds()).toBe(holds);
  });
});

function heldBy(causes: readonly FoundCause[]): ReturnType<typeof holdsOfFleet> {
  return holdsOfFleet([{ ...fleetPolicy(), status: { conditions: [], causes } }], NOW);
}

describe('holdsOfFleet', () => {
  const shared = { policy: 'fleet', because: 'it failed in a, b', until: new Date(ago(-60)) };

  it('holds the commits that brought what failed in several clusters', () => {
    expect(heldBy([UPDATE])).toEqual([{ ...shared, commits: new Set(['c-1', 'c-2']) }]);
  });

  it('holds every commit after too many rollouts failed', () => {
    expect(heldBy([{ ...UPDATE, dimension: 'failedRollouts', value: 'fleet' }])).toEqual([shared]);
  });

  it('holds nothing whose commits are unknown, or that has ended', () => {
    expect(heldBy([{ ...UPDATE, clusters: [{ cluster: 'a', at: ago(60) }] }])).toEqual([]);
    expect(heldBy([{ ...UPDATE, until: ago(0) }])).toEqual([]);
    expect(holdsOfFleet([fleetPolicy()], NOW)).toEqual([]);
  });
});
