import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveIntOrPercent } from '../../src/rollout/int-or-percent.ts';

describe('resolveIntOrPercent', () => {
  it.each([
    [0, 10, 0],
    [3, 10, 3],
    [30, 10, 30],
    ['0%', 10, 0],
    ['10%', 0, 0],
    ['10%', 3, 1],
    ['10%', 19, 1],
    ['10%', 20, 2],
    ['99%', 3, 2],
    ['100%', 7, 7],
  ] as const)('resolves %s of %i to %i', (amount, total, expected) => {
    expect(resolveIntOrPercent(amount, total)).toBe(expected);
  });

  it('resolves a percentage above 0 to at least 1 and at most the whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1e6 }), (percent, total) => {
        const amount = resolveIntOrPercent(`${percent}%`, total);
        expect(amount).toBeGreaterThanOrEqual(1);
        expect(amount).toBeLessThanOrEqual(total);
      }),
    );
  });

  it.each(['101%', 'x%', '-1%', '5'])('rejects %s', (amount) => {
    expect(() => resolveIntOrPercent(amount as `${number}%`, 3)).toThrow(
      'expected an integer or a percentage',
    );
  });
});
