import { describe, expect, it } from 'vitest';
import { batchesReason } from '../../../../src/demo/tour/steps/rollout.ts';

describe('the batches of a rollout', () => {
  it.each<[batches: readonly number[], mostInWork: number, reason: string | undefined]>([
    [[2, 0, 1], 1, undefined],
    [[0, 1], 1, 'batches 0, 1; at most 1 machines in work'],
    [[0, 1, 2], 2, 'batches 0, 1, 2; at most 2 machines in work'],
    [[], 0, 'batches ; at most 0 machines in work'],
  ])('%j with at most %d machines in work are verified, or explained', (batches, mostInWork, reason) => {
    expect(batchesReason(batches, mostInWork)).toBe(reason);
  });
});
