import { describe, expect, it } from 'vitest';
import { soakEndsAt } from '../../../../src/rollout/soak-clock.ts';
import { recordHealthy, restartSoak, startSoak } from '../../../../src/sync/promote/cluster/soak.ts';
import { later, NOW } from '../../../rollout/builders.ts';

describe('the soak of a target', () => {
  const target = {
    digest: 'd1',
    units: new Map([
      ['a', 'a1'],
      ['b', 'b1'],
    ]),
  };

  it('has no end before it settled, then the end of its last unit', () => {
    const started = startSoak(target, ['a', 'b'], undefined, NOW);
    expect(soakEndsAt(started, 60)).toBeUndefined();
    expect(soakEndsAt(recordHealthy(started, target, ['a', 'b'], later(30)), 60)).toEqual(later(90));
    expect(soakEndsAt(recordHealthy(started, target, [], later(30)), 60)).toEqual(later(30));
  });

  it.each([
    ['counts a gap of two minutes', 120, 60],
    ['does not count a longer gap', 121, 60 + 121],
    ['moves the end with a clock that is set back', -1000, 60 - 1000],
  ])('%s', (_, gap, end) => {
    const running = recordHealthy(startSoak(target, ['a'], undefined, NOW), target, ['a'], NOW);
    expect(soakEndsAt(recordHealthy(running, target, ['a'], later(gap)), 60)).toEqual(later(end));
  });

  it('keeps the clocks of unchanged units', () => {
    const running = recordHealthy(startSoak(target, ['a', 'b'], undefined, NOW), target, ['a', 'b'], NOW);
    const next = {
      digest: 'd2',
      units: new Map([
        ['a', 'a2'],
        ['b', 'b1'],
      ]),
    };
    const soak = recordHealthy(startSoak(next, ['a', 'b'], running, later(50)), next, ['a', 'b'], later(60));
    expect(soak.clocks).toEqual([
      { unit: 'a', digest: 'a2', since: later(60).toISOString() },
      { unit: 'b', digest: 'b1', since: NOW.toISOString() },
    ]);
  });

  it('uses one clock for more than 64 units', () => {
    const units = Array.from({ length: 65 }, (_, index) => `u${index}`);
    const big = { digest: 'd1', units: new Map(units.map((unit) => [unit, unit])) };
    const soak = recordHealthy(startSoak(big, units, undefined, NOW), big, units, NOW);
    expect(soak.clocks).toEqual([{ unit: '*', digest: 'd1', since: NOW.toISOString() }]);
  });

  it('restarts without forgetting when each check last ran', () => {
    const gates = [{ name: 'ok', ranAt: NOW.toISOString(), result: 'Failed' as const, failures: 3 }];
    expect(restartSoak({ startedAt: NOW.toISOString(), settledAt: NOW.toISOString(), gates })).toEqual({
      startedAt: NOW.toISOString(),
      clocks: [],
      gates: [{ name: 'ok', ranAt: NOW.toISOString() }],
    });
  });
});
