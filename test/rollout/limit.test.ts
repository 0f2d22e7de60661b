import { describe, expect, it } from 'vitest';
import { type Limit, tightestLimit, UNLIMITED } from '../../src/rollout/limit.ts';

function limit(reason: string, slots: number): Limit {
  return { reason, slots, because: reason };
}

describe('tightestLimit', () => {
  it.each<[name: string, limits: readonly Limit[], expected: string]>([
    ['no limits: unlimited', [], 'Unlimited'],
    ['the one with the fewest slots', [UNLIMITED, limit('A', 3), limit('B', 2)], 'B'],
    ['the first of equally tight limits', [limit('A', 0), limit('B', 0)], 'A'],
    ['the first full one, even if a later one is overfull', [limit('A', 0), limit('B', -2)], 'A'],
    ['an overfull one before a full one', [limit('A', -2), limit('B', 0)], 'A'],
  ])('picks, of %s', (_, limits, expected) => {
    expect(tightestLimit(limits).reason).toBe(expected);
  });
});
