import { describe, expect, it } from 'vitest';
import type { DefenderLedger, DefenderPolicy, KillSwitch } from '../../../../../src/api/generated/types.ts';
import { repairStop } from '../../../../../src/controllers/following/clusterapi/remediation/stop.ts';
import { simulatedPolicy } from '../../../../../src/sim/policies.ts';
import { ago, NOW } from '../../../../support/builders.ts';

const NONE: KillSwitch = { engaged: false, scope: 'All' };
const ANNA: KillSwitch = { engaged: true, scope: 'All', by: 'anna', reason: 'incident' };

function policy(killSwitch: KillSwitch, index: number): Pick<DefenderPolicy, 'metadata' | 'spec'> {
  const { spec } = simulatedPolicy({ isStopped: false, isFrozen: false, machines: 9 });
  const metadata = { name: index === 0 ? 'fleet-default' : 'kill-switch' };
  return { metadata, spec: { ...spec, killSwitch } };
}

function ledger(killSwitch: KillSwitch): Pick<DefenderLedger, 'spec'> {
  const allowance = {
    hub: 'h',
    epoch: 1,
    seq: 1,
    until: ago(-60),
    killSwitch,
    limits: [],
    adoptedAt: ago(9),
  };
  return { spec: { allowance } as unknown as DefenderLedger['spec'] };
}

const BY_PERSON = 'To resume, run: kubenode defender resume';
const BY_GIT = 'To resume, change spec.killSwitch of DefenderPolicy fleet-default in git';

describe('repairStop', () => {
  it.each<[string, readonly KillSwitch[], KillSwitch | undefined, string | undefined]>([
    ['nothing', [NONE], NONE, undefined],
    ['no policy, and no ledger', [], undefined, undefined],
    [
      'a switch of the cluster',
      [NONE, ANNA],
      undefined,
      `repairs are stopped by anna: incident. ${BY_PERSON}`,
    ],
    [
      'one for repairs only',
      [{ ...ANNA, scope: 'Remedy' }],
      NONE,
      `repairs are stopped by anna: incident. ${BY_GIT}`,
    ],
    ['one for rollouts only', [{ ...ANNA, scope: 'Rollout' }], NONE, undefined],
    ['one that has ended', [{ ...ANNA, until: ago(1) }], NONE, undefined],
    [
      'one that ends later',
      [{ ...ANNA, until: ago(-1) }],
      NONE,
      `repairs are stopped by anna: incident. ${BY_GIT}`,
    ],
    [
      'the switch of the fleet',
      [NONE],
      ANNA,
      'the fleet is stopped by anna: incident. To resume, run: kubenode fleet resume',
    ],
    [
      'one without a name',
      [{ engaged: true, scope: 'All' }],
      NONE,
      `repairs are stopped by unknown: no reason given. ${BY_GIT}`,
    ],
  ])('reads %s', (_what, switches, fleet, expected) => {
    expect(repairStop(switches.map(policy), fleet && ledger(fleet), NOW)).toBe(expected);
  });
});
