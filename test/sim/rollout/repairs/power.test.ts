/** Kernels die, and the real job controller switches the power of their machines: every promise holds, and a guard that is taken out is found. */
import { expect, it } from 'vitest';
import { simulateRollouts } from '../../../../src/sim/rollout/simulate-rollouts.ts';
import { findSeed } from '../../../support/seed-search.ts';
import { LONG } from '../../../support/sweep-size.ts';

const SIZE = { hours: LONG ? 2 : 0.6, machines: 8 };
const SEEDS = LONG ? [1, 2, 3, 5, 6, 7, 8, 9] : [3];

it.each(SEEDS)(
  'R31 R33 R35 breaks no promise while power changes late and answers are lost, with seed %i',
  async (seed) => {
    const { violations, repairs } = await simulateRollouts({ seed, ...SIZE, repairs: { power: true } });
    expect(violations).toEqual([]);
    expect(repairs?.offs ?? 0).toBeGreaterThanOrEqual(LONG ? 0 : 1);
  },
  600_000,
);

it('R35 releases pods of a machine that runs when Off is not read back', async () => {
  const repairs = { power: true, broken: 'OffUnconfirmed' } as const;
  const run = async (seed: number): ReturnType<typeof simulateRollouts> =>
    simulateRollouts({ seed, hours: 0.6, machines: 8, repairs });
  await expect(findSeed(3, /^a machine that runs is out of service$/, run)).resolves.toBeGreaterThanOrEqual(
    3,
  );
}, 600_000);
