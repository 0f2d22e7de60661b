import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, RolloutCanary } from '../../../../src/api/generated/types.ts';
import {
  type BatchList,
  batchSize,
  plannedSizes,
} from '../../../../src/controllers/componentset/rollout/batch-size.ts';

const DEFAULT: readonly Amount[] = [1, 5, 10, 50, 100];
const times = (count: number, size: number): number[] => Array.from({ length: count }, () => size);

function listOf(batches: readonly Amount[], more: Partial<BatchList> = {}): BatchList {
  return { batches, repeatLast: true, ...more };
}

function canaryOf(count: number): RolloutCanary {
  return { machineSelector: { all: true }, count, hold: false };
}

describe('plannedSizes', () => {
  it.each<[name: string, list: BatchList, total: number, sizes: readonly number[]]>([
    ['the default on 1,000 machines', listOf(DEFAULT), 1000, [1, 5, 10, 50, ...times(9, 100), 34]],
    ['a list that ends exactly', listOf([1, 5, 10]), 16, [1, 5, 10]],
    ['one machine more', listOf([1, 5, 10]), 17, [1, 5, 10, 1]],
    ['fewer machines than the first batch', listOf([5]), 3, [3]],
    ['no machine', listOf(DEFAULT), 0, []],
    ['the rest at once', listOf([1, 5], { repeatLast: false }), 100, [1, 5, 94]],
    ['percentages, rounded down', listOf(['1%', '25%']), 250, [2, 62, 62, 62, 62]],
    ['a percentage of less than one machine', listOf(['1%']), 3, [1, 1, 1]],
    ['a mixed list', listOf([1, '10%', '100%']), 55, [1, 5, 49]],
    ['a canary before the list', listOf(DEFAULT, { canary: canaryOf(2) }), 20, [2, 1, 5, 10, 2]],
    ['a canary for all', listOf(DEFAULT, { canary: canaryOf(100) }), 20, [4, 1, 5, 10]],
  ])('ROL-01 makes exact batches of %s', (_, list, total, sizes) => {
    expect(plannedSizes(list, { total, canaries: 4 }, 100)).toEqual(sizes);
  });

  it('ends at the number of batches that is asked for', () => {
    expect(plannedSizes(listOf([1]), { total: 10_000, canaries: 0 }, 3)).toEqual([1, 1, 1]);
  });

  it('ROL-02 has an empty batch for a canary that matches no machine', () => {
    const list = listOf([2], { canary: canaryOf(1) });
    expect(plannedSizes(list, { total: 3, canaries: 0 }, 100)).toEqual([0, 2, 1]);
  });

  it('ROL-01 puts each machine into one batch, and no batch is larger than its amount', () => {
    const amount = fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%` as const),
    );
    const lists = fc.record({
      batches: fc.array(amount, { minLength: 1, maxLength: 20 }),
      repeatLast: fc.boolean(),
      canary: fc.option(fc.integer({ min: 1, max: 100 }).map(canaryOf), { nil: undefined }),
    });
    fc.assert(
      fc.property(lists, fc.nat(500), fc.nat(500), ({ canary, ...rest }, total, canaries) => {
        const list = canary ? { ...rest, canary } : rest;
        const sizes = plannedSizes(list, { total, canaries: Math.min(canaries, total) }, 10_000);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(total);
        expect(sizes.slice(canary ? 1 : 0).every((size) => size > 0)).toBe(true);
        const most = canary ? Math.min(canary.count, canaries) : total;
        expect(sizes[0] ?? 0).toBeLessThanOrEqual(most);
      }),
    );
  });
});

describe('batchSize', () => {
  it('ROL-40 counts percentages by the machines that were selected at the start, also when some have left since', () => {
    expect(batchSize(listOf(['10%']), 3, { total: 200, left: 50, canaries: 0 })).toBe(20);
    expect(batchSize(listOf(['10%']), 3, { total: 200, left: 5, canaries: 0 })).toBe(5);
    expect(batchSize(listOf(['10%']), 3, { total: 200, left: 0, canaries: 0 })).toBe(0);
  });
});
