import { describe, expect, it } from 'vitest';
import { GUARD_IDS } from '../../src/defender/guards/guards.ts';
import { simulate } from '../../src/sim/simulate.ts';
import { RECORDED_SEEDS } from './recorded-seeds.ts';

const IS_LONG = process.env['KUBENODE_LONG'] !== undefined;
const SEEDS = Array.from({ length: IS_LONG ? 200 : 3 }, (_, index) => index + 1);
const SIZE = IS_LONG ? { days: 7, machines: 1000 } : { days: 2, machines: 60 };

describe('simulate', () => {
  it.each(SEEDS)('R13 breaks no promise, with seed %i', { timeout: 600_000 }, async (seed) => {
    const { acts, violations } = await simulate({ seed, ...SIZE });
    expect(violations).toEqual([]);
    expect(acts).toBeGreaterThan(0);
  });

  it('repeats a run from its seed', async () => {
    const options = { seed: 7, days: 1, machines: 30 };
    expect(await simulate(options)).toEqual(await simulate(options));
  });

  it('has a recorded seed for every guard', () => {
    expect(RECORDED_SEEDS.map(({ guard }) => guard)).toEqual(GUARD_IDS);
  });

  it.each(RECORDED_SEEDS)(
    'breaks a promise without the guard $guard',
    { timeout: 120_000 },
    async (recorded) => {
      const { guard, seed, machines = 60 } = recorded;
      const { violations } = await simulate({ seed, days: 3, machines, without: new Set([guard]) });
      expect(violations.length).toBeGreaterThan(0);
    },
  );
});
