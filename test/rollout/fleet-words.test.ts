import { describe, expect, it } from 'vitest';
import { concurrencyText, declaredFleetLimits, rateText } from '../../src/rollout/fleet-words.ts';
import { fleetPolicy, REBOOT_RATE } from '../sync/fleetlimits/builders.ts';

describe('the words for limits over clusters', () => {
  it.each([
    [{ per: 'Cluster' }, 'clusters in work at once'],
    [{ per: 'Region' }, 'regions in work at once'],
    [{ per: 'Environment' }, 'environments in work at once'],
    [{ per: 'Label', labelKey: 'zone' }, 'values of label zone in work at once'],
  ] as const)('name what %j counts', (limit, text) => {
    expect(concurrencyText(limit)).toBe(text);
  });

  it.each([
    [{ actions: ['Reboot', 'PowerCycle'], windowSeconds: 3600 }, 'acts Reboot, PowerCycle in 1 h'],
    [{ actions: [], windowSeconds: 90 }, 'acts that take a node down in 90 s'],
  ] as const)('name what %j counts', (limit, text) => {
    expect(rateText(limit)).toBe(text);
  });

  it('name each limit of a policy with its id, those of acts in work first', () => {
    const { rates } = REBOOT_RATE;
    expect(declaredFleetLimits(fleetPolicy({ rates }))).toEqual([
      { id: 'fleet/clusters', counts: 'clusters in work at once', max: 2 },
      { id: 'fleet/reboots', counts: 'acts Reboot in 1 h', max: 6 },
    ]);
  });
});
