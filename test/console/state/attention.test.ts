import { expect, it } from 'vitest';
import { repairNeedsAttention, rolloutNeedsAttention } from '../../../src/console/state/attention.ts';

it.each([
  ['NeedsPerson', 0, true],
  ['Failed', 0, true],
  ['Running', 1, true],
  ['Running', 0, false],
  ['Completed', 0, false],
  ['Completed', 1, false],
])('a rollout that is %s with %i failed machines is shown first: %s', (state, failed, isFirst) => {
  expect(rolloutNeedsAttention({ state, failed })).toBe(isFirst);
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
