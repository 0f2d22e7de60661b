/** Kernels die, and the real job controller switches the power of their machines: every promise holds, and a guard that is taken out is found. */
import { expect, it } from 'vitest';
import { simulateRollouts } from '../../../../src/sim/rollout/simulate-rollouts.ts';
import { findSeed } from '../../../support/seed-search.ts';
import { LONG, slice } from '../../../support/sweep-size.ts';

const SIZE = { hours: LONG ? 2 : 0.6, machines: 8 };
const SEEDS = LONG ? [1, 2, 3, 4, 5, 6, 7, 8, 9, 38] : [3];

it.each(SEEDS)(
  'R31 R33 R35 breaks no promise while power changes late and answers are lost, with seed %i',
  async (seed) => {
    const { violations, repairs } = await simulateRollouts({ seed, ...SIZE, repairs: { power: true } });
    expect(violations).toEqual([]);
    expect(repairs?.offs ?? 0).toBeGreaterThanOrEqual(LONG ? 0 : 1);
  },
);

/** For each guard the promise that some seed breaks without it, and the first seed that is tried. */
const GUARDS = [
  ['OffUnconfirmed', 1, /^a machine that runs is out of service$/],
  ['RecheckIgnored', 30, /^a host that came back was switched off$/],
  ['OnForgotten', 18, /^a machine was switched off twice by one step$/],
] as const;

it.each(slice(GUARDS, 1))(
  'R31 R33 R35 breaks a promise with %s, and none with all guards',
  async (broken, first, promise) => {
    const size = { hours: 0.6, machines: 8 };
    const seed = await findSeed(first, promise, async (each) =>
      simulateRollouts({ seed: each, ...size, repairs: { power: true, broken } }),
    );
    const { violations } = await simulateRollouts({ seed, ...size, repairs: { power: true } });
    expect({ seed, violations }).toEqual({ seed, violations: [] });
  },
);
