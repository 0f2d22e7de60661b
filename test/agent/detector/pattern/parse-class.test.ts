import { describe, expect, it } from 'vitest';
import { parseBrackets, parseNamedClass } from '../../../../src/agent/detector/pattern/parse-class.ts';
import { PatternReader } from '../../../../src/agent/detector/pattern/reader.ts';

describe('parse class', () => {
  it.each([
    ['[a-c]x', [[97, 99]]],
    [
      '[]-]',
      [
        [45, 45],
        [93, 93],
      ],
    ],
    [
      '[a-]',
      [
        [45, 45],
        [97, 97],
      ],
    ],
    [
      '[[:digit:]a]',
      [
        [48, 57],
        [97, 97],
      ],
    ],
    ['[^\\x00-a]', [[98, 0x10ffff]]],
  ])('reads %s', (text, set) => {
    expect(parseBrackets(new PatternReader(text), false)).toEqual(set);
  });

  it.each([
    ['[a', 'missing closing ]: `[a`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['[\\pX]', 'invalid character class range: `\\pX`'],
  ])('refuses %s', (text, problem) => {
    expect(() => parseBrackets(new PatternReader(text), false)).toThrow(problem);
  });

  it('reads a class outside of brackets, and leaves other escapes', () => {
    const reader = new PatternReader('\\d\\n');
    expect(parseNamedClass(reader, false)).toEqual([[48, 57]]);
    expect(parseNamedClass(reader, false)).toBeUndefined();
    expect(reader.rest()).toBe('\\n');
  });
});
