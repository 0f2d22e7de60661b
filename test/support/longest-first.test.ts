import { describe, expect, it } from 'vitest';
import { alternate, secondsByFile } from './longest-first.ts';
import type { FileResult } from './report/results.ts';
import { formatTimes } from './report/times-table.ts';

describe('alternate', () => {
  it.each<[first: string, second: string, want: string]>([
    ['', 'abc', 'abc'],
    ['123', '', '123'],
    ['123', 'abc', '1a2b3c'],
    ['12', 'abcdef', '1abc2def'],
    ['1234', 'ab', '1a23b4'],
  ])('spreads %s and %s evenly, each in its order', (first, second, want) => {
    expect(alternate(first.split(''), second.split('')).join('')).toBe(want);
  });

  it('keeps all', () => {
    const numbers = Array.from({ length: 1013 }, (_, index) => index);
    expect(alternate([-1, -2, -3], numbers).filter((each) => each >= 0)).toEqual(numbers);
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
