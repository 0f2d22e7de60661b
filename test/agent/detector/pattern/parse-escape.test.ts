import { describe, expect, it } from 'vitest';
import { parseEscape } from '../../../../src/agent/detector/pattern/parse-escape.ts';
import { PatternReader } from '../../../../src/agent/detector/pattern/reader.ts';

describe('parse escape', () => {
  it.each([
    ['\\n', 10],
    ['\\v', 11],
    ['\\.', 46],
    ['\\_', 95],
    ['\\012', 10],
    ['\\12', 10],
    ['\\x41', 65],
    ['\\x{1F600}', 0x1f600],
  ])('reads %s', (text, code) => {
    expect(parseEscape(new PatternReader(text))).toBe(code);
  });

  it.each(['\\1', '\\8', '\\e', '\\x4', '\\x{110000}', '\\é'])('refuses %s', (text) => {
    expect(() => parseEscape(new PatternReader(text))).toThrow('invalid escape sequence');
  });

  it('refuses a backslash at the end', () => {
    expect(() => parseEscape(new PatternReader('\\'))).toThrow('trailing backslash');
  });
});
