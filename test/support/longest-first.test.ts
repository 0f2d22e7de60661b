import { describe, expect, it } from 'vitest';
import { secondsByFile, spreadBehind } from './longest-first.ts';
import type { FileResult } from './report/results.ts';
import { formatTimes } from './report/times-table.ts';

describe('spreadBehind', () => {
  it.each<[first: string, second: string, expected: string]>([
    ['', 'abc', 'abc'],
    ['4', '', '4'],
    ['4', 'abc', '4abc'],
    ['11', 'ab', '1ab1'],
    ['1111', 'abcd', '1ab1cd11'],
    ['4211', 'abc', '4abc211'],
    ['3331', 'abcdefgh', '3abcde3fgh31'],
  ])('has those that begin before half of the time of %s, and all of %s, each in its order', (...row) => {
    const [first, second, expected] = row;
    expect(spreadBehind(first.split(''), second.split(''), Number).join('')).toBe(expected);
  });

  it('keeps all, also behind files that take no time', () => {
    const numbers = Array.from({ length: 1013 }, (_, index) => index);
    for (const seconds of [0, 7]) {
      expect(spreadBehind([-1, -2, -3], numbers, () => seconds).filter((each) => each >= 0)).toEqual(numbers);
    }
  });
});

describe('secondsByFile', () => {
  it('reads what each file took from the tables that test:times writes', () => {
    const files = [
      fileResult('test/e2e/demo.test.ts', 640.4),
      fileResult('test/cluster/sync/fleet.test.ts', 9),
    ];
    const tables = formatTimes([{ command: 'npm run test:e2e', seconds: 700, files }]);
    expect([...secondsByFile(tables)]).toEqual([
      ['test/e2e/demo.test.ts', 640],
      ['test/cluster/sync/fleet.test.ts', 9],
    ]);
  });
});

function fileResult(file: string, seconds: number): FileResult {
  return { project: 'e2e', file, passed: 1, failed: 0, skipped: 0, seconds, failures: [] };
}
