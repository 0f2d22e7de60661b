/** Repairs beside rollouts, with the real controllers of rules and jobs: every promise holds, and each part that is broken is found. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Breakage } from '../../../../src/sim/rollout/repairs/breakage.ts';
import {
  type RolloutSimulationResult,
  simulateRollouts,
} from '../../../../src/sim/rollout/simulate-rollouts.ts';
import { findSeed } from '../../../support/seed-search.ts';
import { LONG, slice } from '../../../support/sweep-size.ts';
import { RECORDED_REPAIRS } from '../../recorded-seeds.ts';

const SHORT = { hours: 0.4, machines: 8 };
const SIZE = LONG ? { hours: 2, machines: 8 } : SHORT;
const SEEDS = Array.from({ length: LONG ? 40 : 1 }, (_, index) => 2 * index + 1);
/** An hour of repairs takes five seconds of CPU time. */
const RECORDED = RECORDED_REPAIRS.filter(({ hours }) => LONG || hours < 1);
const RUNS = [...SEEDS.map((seed) => ({ seed, ...SIZE })), ...slice(RECORDED, 1)];
/** A recorded run that is shorter ends before its first job. */
const LEAST_HOURS = 0.3;
/** Ways in which jobs end. */
const LEAST_OUTCOMES = LONG ? 2 : 1;

/** For each part the promise that some seed breaks without it, and the first seed that is tried. */
const BROKEN: readonly (readonly [Breakage, first: number, promise: RegExp])[] = [
  ['GrantKept', 1, /^a job gave up its finalizer with an open grant$/],
  ['CordonKept', 1, /^a cordon without its mark$/],
  ['BudgetIgnored', 2, /^updates and repairs on 3 machines, and 2 allowed$/],
  ['RebootRepeated', 1, /^a second reboot of one try$/],
  ['GuardIgnored', 3, /^a step after its fault had ended$/],
];

describe('simulateRollouts with repairs', () => {
  const results = new Map<number, RolloutSimulationResult>();
  beforeAll(async () => {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    for (const run of RUNS) results.set(run.seed, await simulateRollouts({ ...run, repairs: {} }));
  }, 3_600_000);

  it.each(RUNS)('breaks no promise of a repair or a rollout, with seed $seed', ({ seed, hours }) => {
    const { violations, repairs } = results.get(seed) ?? { violations: ['not run'] };
    expect(violations).toEqual([]);
    expect(repairs?.jobs).toBeGreaterThanOrEqual(hours < LEAST_HOURS ? 0 : 1);
  });

  it('repairs machines, and updates others meanwhile', () => {
    const all = [...results.values()];
    const classes = all.flatMap(({ repairs }) => Object.keys(repairs?.outcomes ?? {}));
    expect(new Set(classes).size).toBeGreaterThanOrEqual(LEAST_OUTCOMES);
    expect(all.every(({ starts }) => starts > 0)).toBe(true);
  });

  it.each(slice(BROKEN, 1))('finds the promise that is broken by %s', async (broken, first, promise) => {
    const run = async (seed: number): Promise<RolloutSimulationResult> =>
      simulateRollouts({ seed, ...SHORT, repairs: { broken } });
    await expect(findSeed(first, promise, run)).resolves.toBeGreaterThanOrEqual(first);
  });
});
