import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GUARDS } from '../../src/defender/guards/guards.ts';
import type { SimulationOptions } from '../../src/sim/run.ts';
import { simulate } from '../../src/sim/simulate.ts';
import { LONG, slice } from '../support/sweep-size.ts';

/** The proofs of the guards below run with all guards, too. */
const SEEDS = LONG ? Array.from({ length: 200 }, (_, index) => index + 1) : [1];
const SIZE = LONG ? { days: 7, machines: 1000 } : { days: 2, machines: 60 };

describe('simulate', () => {
  it.each(SEEDS)('R13 breaks no promise, with seed %i', async (seed) => {
    const { acts, violations } = await simulate({ seed, ...SIZE });
    expect(violations).toEqual([]);
    expect(acts).toBeGreaterThan(0);
  });

  it.each(SEEDS)('R10 breaks no promise while its rule changes, with seed %i', async (seed) => {
    const { acts, denials, violations } = await simulate({ seed, ...SIZE, hasNewRules: true });
    expect(violations).toEqual([]);
    expect(acts).toBeGreaterThan(0);
    expect(denials['RuleWave']).toBeGreaterThan(0);
  });

  it('repeats a run from its seed', async () => {
    const options = { seed: 7, days: 1, machines: 30 };
    expect(await simulate(options)).toEqual(await simulate(options));
  });

  it('has the table of the guards in docs/concepts/simulator.md', () => {
    const rows = GUARDS.map(({ id, proof: { seed, promise, machines, days, isFleet } }) => {
      const one = machines === undefined ? '' : ` (${days} day of ${machines} machines)`;
      const size = isFleet ? ' (`--fleet`)' : one;
      return `| \`${id}\` | ${seed}${size} | ${promise} |`;
    });
    const text = readFileSync(new URL('../../docs/concepts/simulator.md', import.meta.url), 'utf8');
    expect(text).toContain(rows.join('\n'));
  });

  it.each(
    slice(
      GUARDS.filter(({ proof }) => proof.isFleet !== true),
      4,
    ),
  )(
    'breaks its promise without the guard $id: $proof.promise',
    async ({ id, proof: { seed, promise, machines = 60, days = 3, hasNewRules = false } }) => {
      const options = { seed, days, machines, hasNewRules };
      const { violations } = await simulate({ ...options, without: new Set([id]) });
      expect(violations.map(({ what }) => what)).toContain(promise);
      expect(await violationsWithAll(options)).toEqual([]);
    },
  );
});

describe('a machine whose own link is cut', () => {
  it('R20 is repaired without the guard second-vantage although its peers reach it, and never with it', async () => {
    const options = { seed: 1, days: 1, machines: 90 };
    const { violations } = await simulate({ ...options, without: new Set(['second-vantage']) });
    expect(violations.map(({ what }) => what)).toContain('a repair of a machine that its peers reach');
    expect(await violationsWithAll(options)).toEqual([]);
  });
});

/** By seed and size: many guards have the same. */
const known = new Map<string, ReturnType<typeof simulate>>();

async function violationsWithAll(options: SimulationOptions): Promise<readonly unknown[]> {
  const key = JSON.stringify(options);
  const run = known.get(key) ?? simulate(options);
  known.set(key, run);
  return (await run).violations;
}
