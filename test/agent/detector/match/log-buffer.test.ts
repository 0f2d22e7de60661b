import { describe, expect, it } from 'vitest';
import { LogBuffer } from '../../../../src/agent/detector/match/log-buffer.ts';
import { compilePattern } from '../../../../src/agent/detector/pattern/pattern.ts';

describe('log buffer', () => {
  it.each([
    ['one line', { size: 10, lines: ['a', 'b'], pattern: 'b' }, ['b']],
    [
      'a pattern that begins in the middle of a line',
      { size: 10, lines: ['xa', 'yb'], pattern: 'b' },
      ['yb'],
    ],
    ['several lines', { size: 10, lines: ['a', 'b', 'c'], pattern: 'a\\nb\\nc' }, ['a', 'b', 'c']],
    ['a line that only ends in the pattern', { size: 10, lines: ['a1', 'b'], pattern: '1\\nb' }, ['a1', 'b']],
    ['nothing after the line that matched', { size: 10, lines: ['b', 'c'], pattern: 'b' }, []],
    ['nothing in lines that left the buffer', { size: 2, lines: ['a', 'b', 'c'], pattern: 'a\\nb\\nc' }, []],
    ['the lines that are left', { size: 2, lines: ['a', 'b', 'c'], pattern: 'b\\nc' }, ['b', 'c']],
    ['nothing of a part of the last line', { size: 10, lines: ['bc'], pattern: 'b' }, []],
    ['empty lines before the first one', { size: 3, lines: ['b'], pattern: '\\A\\n\\nb' }, ['b']],
    ['nothing from the start while lines are missing', { size: 3, lines: ['b'], pattern: '^b' }, []],
    ['the start when the buffer is full', { size: 1, lines: ['a', 'b'], pattern: '^b' }, ['b']],
  ])('AGT-70 matches to the end of the buffered lines: %s', (_, { size, lines, pattern }, matched) => {
    const buffer = new LogBuffer(size);
    for (const message of lines) buffer.push({ time: new Date(0), message });
    expect(messages(buffer.match(compilePattern(`${pattern}\\z`)))).toEqual(matched);
  });

  it('cuts a line that would make each match slow', () => {
    const buffer = new LogBuffer(1);
    buffer.push({ time: new Date(0), message: 'x'.repeat(10_000) });
    expect(messages(buffer.match(compilePattern('x+\\z'))).map((text) => text.length)).toEqual([4096]);
  });

  it('says when a pattern takes too long', () => {
    const buffer = new LogBuffer(1);
    buffer.push({ time: new Date(0), message: 'ab'.repeat(500) });
    expect(buffer.match(compilePattern('(a|b)*c?', 100))).toBe('TooLong');
  });
});

function messages(lines: ReturnType<LogBuffer['match']>): readonly string[] {
  return lines === 'TooLong' ? [lines] : lines.map(({ message }) => message);
}
