import { describe, expect, it } from 'vitest';
import { formatTable } from '../../../src/views/text/table.ts';

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
