import { describe, expect, it } from 'vitest';
import type { Cluster, FleetConcurrency, KillSwitch } from '../../../src/api/generated/types.ts';
import { clusterFacts, fleetLimitsOf, stopFor } from '../../../src/sync/fleetlimits/fleet.ts';
import { ago, cluster, fleetPolicy, NOW, REBOOT_RATE } from './builders.ts';

const ANY = cluster('eu-1', {}, { environment: 'prod', labels: { tier: 'gold' } });

function group(limit: Partial<FleetConcurrency>, each = ANY): string | undefined {
  const concurrency = [{ name: 'x', per: 'Cluster', max: 1, floor: 1, ...limit } as FleetConcurrency];
  return fleetLimitsOf([fleetPolicy({ concurrency })])[0]?.groupOf(each);
}

describe('fleetLimitsOf', () => {
  it('names each limit by its policy, so that two policies never share a count', () => {
    const policies = [fleetPolicy(), fleetPolicy(REBOOT_RATE, 'night')];
    expect(fleetLimitsOf(policies).map(({ id, kind }) => [id, kind])).toEqual([
      ['fleet/clusters', 'Concurrency'],
      ['night/reboots', 'Rate'],
    ]);
  });

  it.each([
    [{ per: 'Cluster' }, 'eu-1'],
    [{ per: 'Region' }, 'eu'],
    [{ per: 'Environment' }, 'prod'],
    [{ per: 'Label', labelKey: 'tier' }, 'gold'],
    [{ per: 'Label', labelKey: 'zone' }, '(none)'],
  ] as const)('counts %o as %s', (limit, expected) => {
    expect(group(limit)).toBe(expected);
  });

  it('counts clusters without a region or environment together', () => {
    const bare = { ...ANY, region: undefined, environment: undefined } as never;
    expect([group({ per: 'Region' }, bare), group({ per: 'Environment' }, bare)]).toEqual([
      '(none)',
      '(none)',
    ]);
  });
});

function stop(fields: Partial<KillSwitch> = {}): KillSwitch {
  return { engaged: true, scope: 'All', by: 'a', reason: 'r', ...fields };
}

describe('stopFor', () => {
  it('takes the stop of everything before that of a part, and none that has ended', () => {
    const policies = [
      fleetPolicy({ killSwitch: stop({ scope: 'Rollout' }) }, 'part'),
      fleetPolicy({ killSwitch: stop({ by: 'b' }) }, 'all'),
    ];
    expect(stopFor(policies, ANY, NOW)).toMatchObject({ scope: 'All', by: 'b' });
    expect(stopFor(policies.slice(0, 1), ANY, NOW)).toMatchObject({ scope: 'Rollout' });
    const ended = [fleetPolicy({ killSwitch: stop({ until: ago(0) }) })];
    expect(stopFor(ended, ANY, NOW)).toMatchObject({ engaged: false });
  });

  it('stops only what its policy selects', () => {
    const silver = { all: false, matchLabels: { tier: 'silver' } };
    const policies = [fleetPolicy({ clusterSelector: silver, killSwitch: stop() })];
    expect(stopFor(policies, ANY, NOW).engaged).toBe(false);
  });
});

describe('clusterFacts', () => {
  it('selects by environment and region, as the stages of a Pipeline do', () => {
    const object = {
      metadata: { name: 'a' },
      spec: { environment: 'prod', region: 'eu' },
    } as unknown as Cluster;
    expect(clusterFacts(object).labels).toEqual({
      'kubenode.dev/environment': 'prod',
      'kubenode.dev/region': 'eu',
    });
  });

  it('reads region, environment and commit of the Cluster', () => {
    const object = {
      metadata: { name: 'a', labels: { x: 'y' } },
      spec: { region: 'eu' },
      status: { sync: { commit: 'c-1' } },
    } as unknown as Cluster;
    expect(clusterFacts(object)).toEqual({
      name: 'a',
      labels: { x: 'y', 'kubenode.dev/region': 'eu' },
      region: 'eu',
      commit: 'c-1',
    });
  });
});
