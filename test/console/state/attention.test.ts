import { expect, it } from 'vitest';
import { repairNeedsAttention, rolloutNeedsAttention } from '../../../src/console/state/attention.ts';

it.each<[state: string, failed: number, isFirst: boolean, isBehind?: true]>([
  ['NeedsPerson', 0, true],
  ['Failed', 0, true],
  ['Running', 1, true],
  ['Running', 0, false],
  ['Completed', 0, false],
  ['Completed', 1, false],
  ['Completed', 0, false, true],
  ['Completed', 1, true, true],
])('a rollout that is %s with %i failed machines is shown first: %s', (state, failed, isFirst, isBehind) => {
  expect(rolloutNeedsAttention({ state, failed, ...(isBehind && { isBehind }) })).toBe(isFirst);
});

it.each([
  ['NeedsPerson', true],
  ['Running', false],
  ['Failed', false],
  ['Ended', false],
  ['Succeeded', false],
])('a repair that is %s is shown first: %s', (state, isFirst) => {
  expect(repairNeedsAttention({ state })).toBe(isFirst);
});
