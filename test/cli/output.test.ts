import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { printResult } from '../../src/cli/output.ts';
import { formatCount, formatShare } from '../../src/views/text/counts.ts';
import { testIo } from '../support/test-io.ts';

const table = (): { columns: string[]; rows: string[][] } => ({ columns: ['name'], rows: [['a']] });

describe('printResult', () => {
  it.each([
    ['table', 'NAME\na\n'],
    ['json', '{\n  "name": "a",\n  "number": "0777"\n}\n'],
    ['yaml', 'name: a\nnumber: "0777"\n'],
  ] as const)('as %s', (format, text) => {
    const io = testIo();
    printResult(io, format, { name: 'a', number: '0777' }, table);
    expect(io.stdout).toBe(text);
  });
});

describe('printResult, of texts that control a terminal', () => {
  it.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ] as const)('as %s contains them escaped, and means the same', (format, read) => {
    const io = testIo();
    const data = { subject: 'x\u001b[2J\u009b2J\u007f\ny' };
    printResult(io, format, data, table);
    expect(io.stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(read(io.stdout)).toEqual(data);
  });
});

describe('formatCount', () => {
  it('uses the singular for one only', () => {
    expect([0, 1, 2].map((count) => formatCount(count, 'file'))).toEqual(['0 files', '1 file', '2 files']);
  });
});

describe('formatShare', () => {
  it('uses the plural, also where the group has one', () => {
    expect([formatShare(0, 1, 'machine'), formatShare(1, 2, 'machine')]).toEqual([
      '0 of 1 machines',
      '1 of 2 machines',
    ]);
  });
});
