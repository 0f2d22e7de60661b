import { expect, it } from 'vitest';
import type { FileResult } from './results.ts';
import { formatTimes } from './times-table.ts';

function fileResult(
  file: string,
  seconds: number,
  workerSeconds: number,
  programSeconds: number,
): FileResult {
  const counts = { passed: 2, failed: 1, skipped: 4 };
  return {
    project: 'cluster',
    file,
    seconds,
    ...counts,
    cost: { workerSeconds, programSeconds },
    failures: [],
  };
}

it('lists long files, the longest first, sums up the short ones, and tells the least time that each waited', () => {
  const files = [
    fileResult('test/a.test.ts', 10, 1, 2),
    fileResult('test/b.test.ts', 4, 1, 1),
    fileResult('test/c.test.ts', 30, 10, 40),
    { ...fileResult('test/d.test.ts', 1, 0, 0), cost: undefined },
  ];
  expect(formatTimes([{ command: 'npm test', seconds: 44.4, files }]).split('\n')).toEqual([
    '### `npm test`: 44 s',
    '',
    '| file | tests | seconds | CPU of the test | CPU of its programs | waited at least |',
    '|---|--:|--:|--:|--:|--:|',
    '| c | 3 | 30 | 10 | 40 | 0 |',
    '| a | 3 | 10 | 1 | 2 | 7 |',
    '| 2 files of less than 5 s | 6 | 5 | 1 | 1 | 3 |',
    '| **all 4 files** | 12 | 45 | 12 | 43 | 10 |',
    '',
  ]);
});
