import { describe, expect, it } from 'vitest';
import { fitTable, formatField } from '../../../src/cli/format/wrap.ts';

describe('formatField', () => {
  it('begins further lines below the text, and leaves an empty field out', () => {
    expect(formatField('waits', 'one two three four five six seven', 38)).toBe(
      '  waits      one two three four five\n             six seven\n',
    );
    expect(formatField('waits', '')).toBe('');
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

  it('says what is empty', () => {
    expect(fitTable({ columns: ['name'], rows: [], empty: 'none' })).toBe('none\n');
    expect(fitTable({ columns: ['name'], rows: [] })).toBe('');
  });
});
