import { expect, it } from 'vitest';
import { describeCompiling, describeModules } from '../../../src/local/binaries/compile-progress.ts';

it.each([
  [0, 0, 0, '0 % (0 of at most 0 packages)'],
  [28, 2800, 5000, '1 % (28 of at most 2800 packages)'],
  [700, 2800, 60_000, '25 % (700 of at most 2800 packages), about 3 minutes left'],
  [1400, 2800, 60_000, '50 % (1400 of at most 2800 packages), about 1 minute left'],
  [2700, 2800, 300_000, '96 % (2700 of at most 2800 packages), less than a minute left'],
  [2801, 2800, 300_000, '100 % (2801 of at most 2800 packages), less than a minute left'],
])('describes %d of %d packages after %d ms', (compiled, packages, elapsedMs, want) => {
  expect(describeCompiling(compiled, packages, elapsedMs)).toBe(
    `compiling the control plane, once, as no release can be downloaded: ${want}`,
  );
});

it('describes modules, whose number is not known before', () => {
  expect(describeModules(26)).toBe(
    'downloading the Go modules of the control plane, once, as no release can be downloaded: 26 so far',
  );
});
