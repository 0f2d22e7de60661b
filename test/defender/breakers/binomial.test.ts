import { describe, expect, it } from 'vitest';
import { logBinomialTail } from '../../../src/defender/breakers/binomial.ts';

/** Summed term by term, which is exact for small numbers. */
function exactTail(attempts: number, least: number, chance: number): number {
  let sum = 0;
  for (let k = least; k <= attempts; k += 1) {
    let ways = 1;
    for (let index = 1; index <= k; index += 1) ways *= (attempts - k + index) / index;
    sum += ways * chance ** k * (1 - chance) ** (attempts - k);
  }
  return sum;
}

describe('logBinomialTail', () => {
  it.each([
    [3, 2, 0.002],
    [6, 6, 0.2],
    [10, 8, 0.58],
    [40, 25, 0.3],
    [60, 35, 0.5],
  ])('R21 is exact: %i attempts, at least %i, chance %d', (attempts, least, chance) => {
    expect(Math.exp(logBinomialTail(attempts, least, chance))).toBeCloseTo(
      exactTail(attempts, least, chance),
      12,
    );
  });

  it('R21 stays a number for fleets so large that the chance itself is too small for one', () => {
    const tail = logBinomialTail(1_000_000, 600_000, 0.3);
    // By the bound of Chernoff, and at most the logarithm of the number of terms above it.
    const bound = 1_000_000 * (0.6 * Math.log(0.3 / 0.6) + 0.4 * Math.log(0.7 / 0.4));
    expect(tail).toBeLessThan(bound);
    expect(tail).toBeGreaterThan(bound - 20);
  });

  it('R21 takes a share that is expected for certain', () => {
    expect([logBinomialTail(10, 3, 0.3), logBinomialTail(10, 0, 0.3), logBinomialTail(10, 10, 1)]).toEqual([
      0, 0, 0,
    ]);
    expect(logBinomialTail(10, 1, 0)).toBe(Number.NEGATIVE_INFINITY);
    expect(logBinomialTail(10, 11, 0.5)).toBe(Number.NEGATIVE_INFINITY);
  });
});
