import { expect, it } from 'vitest';
import { systemRandom } from '../../src/os/system-random.ts';

it('returns different numbers in [0, 1)', () => {
  const drawn = Array.from({ length: 1000 }, systemRandom);
  expect(drawn.filter((value) => !(value >= 0 && value < 1))).toEqual([]);
  expect(new Set(drawn).size).toBeGreaterThan(990);
  expect(new Set(drawn.map((value) => Math.floor(value * 10))).size).toBe(10);
});
