import { describe, expect, it } from 'vitest';
import { withOtherCases } from '../../../../src/agent/detector/pattern/case-fold.ts';
import { charSet, codesOf } from '../../../../src/agent/detector/pattern/char-set.ts';

describe('case fold', () => {
  it.each([
    ['k', 'Kk\u212a'],
    ['s', 'Ss\u017f'],
    ['\u03c3', '\u03a3\u03c3\u03c2'],
    ['\u01c5', '\u01c4\u01c5\u01c6'],
    ['\u00df', '\u00df\u1e9e'],
    ['\u0131', '\u0131'],
    ['1', '1'],
  ])('of %s adds the characters that differ only in case', (char, family) => {
    expect(withOtherCases(chars(char))).toEqual(chars(family));
  });
});

function chars(text: string): ReturnType<typeof charSet> {
  return charSet(codesOf(text).map((code) => [code, code]));
}
