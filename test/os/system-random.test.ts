import { expect, it } from 'vitest';
import { systemRandom } from '../../src/os/system-random.ts';

it('draws numbers in [0, 1), and not the same ones', () => {
  const drawn = Array.from({ length: 1000 }, systemRandom);
  expect(drawn.filter((value) => !(value >= 0 && value < 1))).toEqual([]);
  expect(new Set(drawn).size).toBeGreaterThan(990);
  expect(new Set(drawn.map((value) => Math.floor(value * 10))).size).toBe(10);
});
