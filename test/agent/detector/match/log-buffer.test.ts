import { readFileSync } from 'node:fs';
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
    buffer.push({ time: new Date(0), message: 'x'.repeat(100_000) });
    expect(messages(buffer.match(compilePattern('x+\\z'))).map((text) => text.length)).toEqual([65_536]);
  });

  it('AGT-70 finds a match anywhere in a line of the kernel or the journal', () => {
    const buffer = new LogBuffer(10);
    const long = `${'x '.repeat(24_000)}Killed process 7`;
    for (let line = 0; line < 10; line += 1) buffer.push({ time: new Date(line), message: long });
    const found = buffer.match(compilePattern('Killed (\\S+ )+\\d+\\z'));
    expect(messages(found)).toEqual([long]);
    // Without any text that the line has to contain, each place of it is tried.
    expect(messages(buffer.match(compilePattern('[a-z]+ \\d+\\z')))).toEqual([long]);
  });

  it('keeps no more text than it can match in time, the newest', () => {
    const buffer = new LogBuffer(1000);
    const message = 'x'.repeat(65_536);
    for (let line = 0; line < 40; line += 1) buffer.push({ time: new Date(line), message });
    const kept = messages(buffer.match(compilePattern('(?s)\\A.*\\z', 1e9))).filter((text) => text !== '');
    expect(kept).toHaveLength(16);
  });

  it.each(patternTexts())('finds the same in the last lines as in all of them: %s', (pattern) => {
    const whole = compilePattern(`${pattern}\\z`);
    const lines = ['a', 'ab c', 'b1\nx', '', 'aab', 'b c 1'];
    for (const count of [1, 2, 3, 6]) {
      const buffer = new LogBuffer(3);
      for (const message of lines.slice(0, count)) buffer.push({ time: new Date(0), message });
      const anywhere = { ...whole, maxNewlines: Number.POSITIVE_INFINITY };
      expect(buffer.match(whole)).toEqual(buffer.match(anywhere));
    }
  });

  it('says when a pattern takes too long', () => {
    const buffer = new LogBuffer(1);
    buffer.push({ time: new Date(0), message: 'ab'.repeat(500) });
    expect(buffer.match(compilePattern('(a|b)*c?', 100))).toBe('TooLong');
  });
});

/** Those that the matcher was compared with Go for. */
function patternTexts(): readonly string[] {
  const file = new URL('../pattern/go/patterns.json', import.meta.url);
  const all = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
  return all.filter((text) => {
    try {
      compilePattern(text);
      return true;
    } catch {
      return false;
    }
  });
}

function messages(lines: ReturnType<LogBuffer['match']>): readonly string[] {
  return lines === 'TooLong' ? [lines] : lines.map(({ message }) => message);
}
