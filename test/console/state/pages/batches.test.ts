import { expect, it } from 'vitest';
import { batchSteps } from '../../../../src/console/state/pages/batches.ts';

it.each([
  ['the batches before and after the current one', '2 of 4', 'Running', 'done current next next'],
  ['the first batch', '1 of 2', 'NeedsPerson', 'current next'],
  ['nothing if the number is not known', '2', 'Running', ''],
  ['nothing after the end', '4 of 4', 'Completed', ''],
  ['nothing if there are too many', '1 of 200', 'Running', ''],
  ['nothing of another text', '2 of 4 batches', 'Running', ''],
])('shows %s', (_, place, state, expected) => {
  const steps = batchSteps({ state, batch: { place, size: 1, updated: 0, failed: 0 } });
  expect(steps.map((step) => step.state).join(' ')).toBe(expected);
});

it('shows nothing of a rollout without a batch', () => {
  expect(batchSteps({ state: 'Running' })).toEqual([]);
});
