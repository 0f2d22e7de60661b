import { describe, expect, it } from 'vitest';
import { maxNewlines, maxNewlinesToEnd } from '../../../../src/agent/detector/pattern/newlines.ts';
import { parsePattern } from '../../../../src/agent/detector/pattern/parse.ts';

const ANY = Number.POSITIVE_INFINITY;

describe('newlines', () => {
  it.each([
    ['abc.*\\d+[\\S ]$', 0],
    ['a\\nb', 1],
    ['(?s).', 1],
    ['[^a]', 1],
    ['[^a\\n]+', 0],
    ['\\s*', ANY],
    ['(?s:.*)', ANY],
    ['(a\\n){2,3}b\\n', 4],
    ['(a|b\\n\\n|\\n)c', 2],
    ['(?:a*)*', 0],
    ['\\n{0}', 0],
    ['', 0],
  ])('bounds the line breaks that a match of %s contains', (pattern, expected) => {
    expect(maxNewlines(parsePattern(pattern).root)).toBe(expected);
  });

  it.each([
    ['a\\nb\\z', 1],
    ['(a|b)\\z', 0],
    ['\\z', 0],
    ['a', ANY],
    ['a|b\\z', ANY],
    ['a(?m:$)', ANY],
  ])('bounds those to the end of the text, where %s matches only there', (pattern, expected) => {
    expect(maxNewlinesToEnd(parsePattern(pattern).root)).toBe(expected);
  });
});
