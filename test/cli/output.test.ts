import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatCount, formatTable, printResult } from '../../src/cli/output.ts';
import { testIo } from '../support/test-io.ts';

describe('formatTable', () => {
  it('aligns columns by their widest cell and leaves no trailing blanks', () => {
    const text = formatTable({
      columns: ['name', 'state'],
      rows: [
        ['a-long-name', 'Ready'],
        ['b', ''],
      ],
    });
    expect(text).toBe('NAME          STATE\na-long-name   Ready\nb\n');
  });

  it('keeps a row in its line, whatever its cells contain', () => {
    const text = formatTable({ columns: ['name', 'state'], rows: [['a\nb', '\u001b[2J']] });
    expect(text).toBe(String.raw`NAME   STATE
a\nb   \u001b[2J
`);
  });

  it('prints the empty text instead of a header without rows', () => {
    expect(formatTable({ columns: ['name'], rows: [], empty: 'no clusters' })).toBe('no clusters\n');
  });
});

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
