import { describe, expect, it } from 'vitest';
import { fitTable, formatField, formatTitle } from '../../../src/views/text/wrap.ts';

describe('formatField', () => {
  it('begins further lines below the text, and leaves an empty field out', () => {
    expect(formatField('waits', 'one two three four five six seven', 38)).toBe(
      '  waits      one two three four five\n             six seven\n',
    );
    expect(formatField('waits', '')).toBe('');
  });
});

describe('formatTitle', () => {
  it('puts the text below a name that leaves it no room, and loses neither', () => {
    expect(formatTitle('job-1', 'Waiting', 20)).toBe('job-1   Waiting\n');
    expect(formatTitle('job-1-kernel', 'Waiting, created 4m ago', 26)).toBe(
      'job-1-kernel\n  Waiting, created 4m ago\n',
    );
  });
});

describe('fitTable', () => {
  it('wraps the last column into the rest of the width', () => {
    const rows = [['m-1', 'Ready', 'one two three four five six seven']];
    expect(fitTable({ columns: ['name', 'phase', 'why'], rows }, 44)).toBe(
      'NAME   PHASE   WHY\nm-1    Ready   one two three four five six\n               seven\n',
    );
  });

  it('gives a last column that has no room lines of its own, without a title', () => {
    const rows = [['m-1', 'Ready', 'one two three four five six seven']];
    expect(fitTable({ columns: ['name', 'phase', 'why'], rows }, 36)).toBe(
      'NAME   PHASE\nm-1    Ready\n    one two three four five six\n    seven\n',
    );
  });

  it('gives a long name a line of its own', () => {
    const name = 'n'.repeat(40);
    expect(fitTable({ columns: ['name', 'why'], rows: [[name, 'x']] })).toBe(
      `NAME                               WHY\n${name}\n                                   x\n`,
    );
  });

  it('gives every name a line of its own where the other columns have no room', () => {
    const table = {
      columns: ['job', 'machine', 'rule', 'age', 'why'],
      rows: [
        ['job-1', 'node-a17', 'kernel-hang', '4m', 'one two'],
        ['job-2', 'b', 'disk', '5h', ''],
      ],
    };
    expect(fitTable(table, 34)).toBe(`JOB
    MACHINE    RULE          AGE
job-1
    node-a17   kernel-hang   4m
    one two
job-2
    b          disk          5h
`);
    // Where even these have none, they are wrapped between words.
    const narrow = fitTable(table, 24);
    expect(narrow.split('\n').filter((line) => line.length > 28)).toEqual([]);
    for (const cell of table.rows.flat()) expect(narrow).toContain(cell);
  });

  it('says what is empty', () => {
    expect(fitTable({ columns: ['name'], rows: [], empty: 'none' })).toBe('none\n');
    expect(fitTable({ columns: ['name'], rows: [] })).toBe('');
  });
});
