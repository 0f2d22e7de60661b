import { expect, it } from 'vitest';
import { describeCompiling } from '../../../src/local/binaries/compile-progress.ts';

it.each([
  [0, 0, 0, '0 % (0 of at most 0 packages compiled)'],
  [28, 2800, 5000, '1 % (28 of at most 2800 packages compiled)'],
  [700, 2800, 60_000, '25 % (700 of at most 2800 packages compiled), about 3 minutes left'],
  [1400, 2800, 60_000, '50 % (1400 of at most 2800 packages compiled), about 1 minute left'],
  [2700, 2800, 300_000, '96 % (2700 of at most 2800 packages compiled), less than a minute left'],
  [2801, 2800, 300_000, '100 % (2801 of at most 2800 packages compiled), less than a minute left'],
])('describes %d of %d packages after %d ms', (compiled, packages, elapsedMs, want) => {
  expect(describeCompiling(compiled, packages, elapsedMs)).toBe(`building the control plane: ${want}`);
});
