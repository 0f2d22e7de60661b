import { describe, expect, it } from 'vitest';
import { fleetRateKey } from '../../../src/defender/allowance/limits.ts';
import { countAct } from '../../../src/defender/ledger/rates.ts';
import { ago, decideScene, explain, NOW } from '../builders.ts';
import { allowance, clustersLimit, rebootsLimit } from './builders.ts';

const ONE_REBOOT = { [fleetRateKey(rebootsLimit())]: countAct(undefined, { windowSeconds: 3600 }, NOW) };

function answer(fields: Parameters<typeof allowance>[0], more: object = {}): string {
  return explain(decideScene({ ledger: { allowance: allowance(fields), ...more } }));
}

describe('fleetLimits', () => {
  it('permits within the share of the cluster', () => {
    expect(answer({})).toBe('granted');
    expect(answer({ limits: [rebootsLimit({ share: 2 })] }, { rates: ONE_REBOOT })).toBe('granted');
  });

  it('denies without a share, and repeats what the hub said', () => {
    const limits = [clustersLimit({ share: 0, message: 'at most 3 clusters; counted: a, b, c' })];
    expect(answer({ limits })).toBe(
      'FleetLimit: fleet/clusters: at most 3 (clusters) may be in work at once over the fleet, and it is not the turn of this cluster; at most 3 clusters; counted: a, b, c',
    );
  });

  it('denies when the share of a rate is used, until it leaves the period', () => {
    const decision = decideScene({
      ledger: { allowance: allowance({ limits: [rebootsLimit({ share: 1 })] }), rates: ONE_REBOOT },
    });
    expect(decision).toMatchObject({
      permitted: false,
      reason: 'FleetLimit',
      key: 'fleet/reboots',
      used: 1,
      limit: 1,
    });
    expect(decision).toHaveProperty('retryAt');
  });

  it('goes on at the floor when the allowance has ended', () => {
    const limits = [clustersLimit({ share: 0, floor: 1 }), rebootsLimit({ share: 0, floor: 1 })];
    expect(answer({ until: ago(1), limits })).toBe('granted');
    expect(answer({ until: ago(1), limits }, { rates: ONE_REBOOT })).toContain('so the floor holds');
    expect(answer({ until: ago(1), limits: [clustersLimit({ floor: 0 })] })).toContain('FleetLimit');
  });

  it('never holds up what takes an act back', () => {
    const ledger = { allowance: allowance({ limits: [clustersLimit({ share: 0 })] }) };
    const rollback = { action: 'UpdateComponent', recovery: true } as const;
    expect(explain(decideScene({ ledger, ask: rollback }))).toBe('granted');
  });
});

describe('fleetStop', () => {
  const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'bad image' } as const;

  it('denies everything while the fleet is stopped, also when the hub is away since', () => {
    for (const until of [ago(-300), ago(1)]) {
      expect(answer({ killSwitch, until })).toBe('KillSwitch: the fleet is stopped by ann: bad image');
    }
  });

  it('stops a part only, and until it ends', () => {
    expect(answer({ killSwitch: { ...killSwitch, scope: 'Rollout' } })).toBe('granted');
    expect(answer({ killSwitch: { ...killSwitch, until: ago(1) } })).toBe('granted');
  });
});
