import { describe, expect, it } from 'vitest';
import { countAll, type FileResult, type RunResult, sum } from './results.ts';
import { filesThatFailed, judgeSecondRun } from './second-run.ts';

function fileResult(file: string, failed: number, project = 'cluster'): FileResult {
  const failures = Array.from({ length: failed }, (_, index) => ({
    test: `test ${index + 1}`,
    error: `Error: ${index + 1}\n    at somewhere`,
  }));
  return { project, file, passed: 5 - failed, failed, skipped: 0, seconds: 1, failures };
}

function runOf(...files: readonly FileResult[]): RunResult {
  return { seed: '1', seconds: 1, files, errors: [] };
}

function judge(first: readonly FileResult[], second: readonly FileResult[]): string {
  const verdict = judgeSecondRun([runOf(...first)], second);
  const { passed, failed } = sum(verdict.results.map(countAll));
  return `${passed} passed, ${failed} failed, ${verdict.flaky.length} flaky`;
}

describe('judgeSecondRun', () => {
  const [one, two, three] = [fileResult('one', 1), fileResult('two', 2), fileResult('three', 1)] as const;

  it.each<[what: string, first: readonly FileResult[], second: readonly FileResult[], want: string]>([
    ['no file failed', [fileResult('well', 0)], [], '5 passed, 0 failed, 0 flaky'],
    ['a file passed later', [one], [fileResult('one', 0)], '5 passed, 0 failed, 1 flaky'],
    ['a file failed twice', [one], [fileResult('one', 1)], '4 passed, 1 failed, 0 flaky'],
    ['a second run had no result', [one], [], '4 passed, 1 failed, 0 flaky'],
    [
      'a second run skipped its tests',
      [one],
      [{ ...fileResult('one', 0), passed: 4, skipped: 1 }],
      '4 passed, 1 failed, 0 flaky',
    ],
    [
      'a second run found no tests',
      [one],
      [{ ...fileResult('one', 0), passed: 0 }],
      '4 passed, 1 failed, 0 flaky',
    ],
    ['one of two failed twice', [one, two], [fileResult('one', 0), two], '8 passed, 2 failed, 1 flaky'],
    [
      'the same file passed in another project',
      [one],
      [fileResult('one', 0, 'nodes')],
      '4 passed, 1 failed, 0 flaky',
    ],
    [
      'two files passed later',
      [one, two],
      [fileResult('one', 0), fileResult('two', 0)],
      '10 passed, 0 failed, 2 flaky',
    ],
    [
      'three files passed later',
      [one, two, three],
      [fileResult('one', 0), fileResult('two', 0), fileResult('three', 0)],
      '11 passed, 4 failed, 3 flaky',
    ],
  ])('tells what counts when %s', (_what, first, second, want) => {
    expect(judge(first, second)).toBe(want);
  });

  it('still counts an error that belongs to no file', () => {
    const leaking = { ...runOf(one), errors: ['the test run leaks'] };
    const { results } = judgeSecondRun([leaking], [fileResult('one', 0)]);
    expect(results.map(countAll)).toEqual([{ passed: 5, failed: 1, skipped: 0 }]);
  });

  it('prints each first failure of a flaky file whole, and why three are too many', () => {
    const { lines } = judgeSecondRun([runOf(two)], [fileResult('two', 0)]);
    expect(lines).toEqual([
      'FLAKY two > test 1\nError: 1\n    at somewhere\n',
      'FLAKY two > test 2\nError: 2\n    at somewhere\n',
    ]);
    const all = [one, two, three];
    const many = judgeSecondRun(
      [runOf(...all)],
      all.map(({ file }) => fileResult(file, 0)),
    );
    expect(many.lines.at(-1)).toBe('3 files passed only when repeated, at most 2 may: they count as failed');
  });
});

describe('filesThatFailed', () => {
  it('lists the files of all runs with their projects', () => {
    const runs = [runOf(fileResult('one', 1), fileResult('two', 0)), runOf(fileResult('three', 1, 'nodes'))];
    expect(filesThatFailed(runs)).toEqual([
      { project: 'cluster', file: 'one' },
      { project: 'nodes', file: 'three' },
    ]);
  });
});
