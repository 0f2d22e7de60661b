import { describe, expect, it } from 'vitest';
import { milliQuantity } from '../../../src/kube/drain/quantity.ts';

describe('milliQuantity', () => {
  it.each([
    ['100m', 100],
    ['1.5Gi', 1.5 * 2 ** 30 * 1000],
    ['1e3', 1_000_000],
    ['1E', 1e21],
    ['2E1', 20_000],
    ['1.1', 1100],
    ['.5', 500],
    ['5.', 5000],
    ['1n', 1],
    ['0', 0],
    [3, 3000],
  ])('reads %s, rounded up to thousandths', (quantity, expected) => {
    expect(milliQuantity(quantity)).toBe(expected);
  });

  it.each(['', '1 Gi', '-1', '1Kb', 'constructor', '1e999', Number.NaN, Number.POSITIVE_INFINITY, null, {}])(
    'does not know %s',
    (quantity) => {
      expect(milliQuantity(quantity)).toBeUndefined();
    },
  );
});
