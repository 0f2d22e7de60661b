import { expect, it } from 'vitest';
import { simulate } from '../../../src/sim/simulate.ts';
import { type EndedSeed, simulateSeeds } from '../../../src/sim/threads/seeds.ts';

it('runs seeds in threads with the same results as one after the other, in their order', async () => {
  const seeds = [4, 2, 9].map((seed) => ({ seed, days: 0.5, machines: 40 }));
  const ended: EndedSeed[] = [];
  const results = await simulateSeeds(seeds, (seed) => ended.push(seed));
  const expected = await Promise.all(seeds.map((options) => simulate(options)));
  expect(results).toEqual(expected);
  expect(new Set(ended.map(({ result: { seed } }) => seed))).toEqual(new Set([4, 2, 9]));
  expect(ended.every(({ cpuSeconds }) => cpuSeconds > 0)).toBe(true);
});

it('fails when a seed cannot be run', async () => {
  const broken = { seed: 1n as unknown as number, days: 0.01, machines: 10 };
  await expect(simulateSeeds([broken])).rejects.toThrow('BigInt');
});
