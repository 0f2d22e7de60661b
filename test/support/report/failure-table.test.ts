import { expect, it } from 'vitest';
import { describeSteadiness } from './failure-table.ts';
import type { RunResult } from './results.ts';

function runOf(seed: string, failed: readonly string[], errors: readonly string[] = []): RunResult {
  const failures = failed.map((test) => ({ test, error: 'Error' }));
  const file = { project: 'cluster', file: 'a.test.ts', passed: 1, skipped: 0, seconds: 1 };
  return { seed, seconds: 1, files: [{ ...file, failed: failed.length, failures }], errors };
}

it('counts the runs, and lists what failed by how often, with the seeds that repeat it', () => {
  const runs = [runOf('1', ['reads']), runOf('2', []), runOf('3', ['writes', 'reads'])];
  expect(describeSteadiness(runs, 10)).toEqual([
    '3 of 10 runs ended, 1 without a failure',
    '2 × a.test.ts > reads (seed 1, 3)',
    '1 × a.test.ts > writes (seed 3)',
  ]);
});

it('lists what belongs to no file by its first line', () => {
  expect(describeSteadiness([runOf('1', [], ['the test run leaks:\n  a process'])], 1)).toEqual([
    '1 of 1 runs ended, 0 without a failure',
    '1 × the test run leaks: (seed 1)',
  ]);
});
