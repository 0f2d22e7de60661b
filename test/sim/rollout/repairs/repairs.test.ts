/** Repairs beside rollouts, with the real controllers of rules and jobs: every promise holds, and each part that is broken is found. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Breakage } from '../../../../src/sim/rollout/repairs/breakage.ts';
import {
  type RolloutSimulationResult,
  simulateRollouts,
} from '../../../../src/sim/rollout/simulate-rollouts.ts';
import { LONG, QUICK, slice } from '../../../support/sweep-size.ts';

const SHORT = { hours: 0.4, machines: 8 };
const SIZE = LONG ? { hours: 2, machines: 8 } : { ...SHORT, hours: QUICK ? 0.4 : 0.6 };
const SEEDS = QUICK ? [2] : Array.from({ length: LONG ? 40 : 2 }, (_, index) => index + 1);
/** Ways in which jobs end. */
const LEAST_OUTCOMES = QUICK ? 1 : 3;

/** For each part a seed of 0.4 hours that breaks this promise without it. */
const BROKEN: readonly (readonly [Breakage, seed: number, promise: string])[] = [
  ['GrantKept', 1, 'a job gave up its finalizer with an open grant'],
  ['CordonKept', 1, 'a cordon without its mark'],
  ['BudgetIgnored', 3, 'updates and repairs on 3 machines, and 2 allowed'],
  ['RebootRepeated', 2, 'a second reboot of one try'],
  ['GuardIgnored', 1, 'a step after its fault had ended'],
];

describe('simulateRollouts with repairs', () => {
  const results = new Map<number, RolloutSimulationResult>();
  beforeAll(async () => {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    for (const seed of SEEDS) results.set(seed, await simulateRollouts({ seed, ...SIZE, repairs: {} }));
  }, 3_600_000);

  it.each(SEEDS)('breaks no promise of a repair or a rollout, with seed %i', (seed) => {
    const { violations, repairs } = results.get(seed) ?? { violations: ['not run'] };
    expect(violations).toEqual([]);
    expect(repairs?.jobs).toBeGreaterThan(0);
  });

  it('repairs by reboots, hands machines to people, and updates others meanwhile', () => {
    const all = [...results.values()];
    const classes = new Set(all.flatMap(({ repairs }) => Object.keys(repairs?.outcomes ?? {})));
    expect([...classes]).toContain('Succeeded');
    expect(classes.size).toBeGreaterThanOrEqual(LEAST_OUTCOMES);
    expect(all.some(({ repairs }) => (repairs?.reboots ?? 0) > 0)).toBe(true);
    expect(all.every(({ starts }) => starts > 0)).toBe(true);
    expect(all.some(({ kills }) => kills > 0)).toBe(true);
  });

  it.each(slice(BROKEN, BROKEN.length, 1))(
    'finds the promise that is broken by %s',
    async (broken, seed, promise) => {
      const { violations } = await simulateRollouts({ seed, ...SHORT, repairs: { broken } });
      expect(violations.map(({ what }) => what)).toContain(promise);
    },
    600_000,
  );
});
