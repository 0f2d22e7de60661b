import { describe, expect, it } from 'vitest';
import { parsePattern } from '../../../../src/agent/detector/pattern/parse.ts';
import { PatternReader } from '../../../../src/agent/detector/pattern/reader.ts';
import { checkRepetitions, parseRepetition } from '../../../../src/agent/detector/pattern/repetition.ts';

describe('repetition', () => {
  it.each([
    ['*', { min: 0, max: Infinity }],
    ['{2}', { min: 2, max: 2 }],
    ['{2,}', { min: 2, max: Infinity }],
    ['{0,3}', { min: 0, max: 3 }],
    ['{,3}', undefined],
    ['{01}', undefined],
    ['a', undefined],
  ])('reads %s', (text, limits) => {
    expect(parseRepetition(new PatternReader(text))).toEqual(limits);
  });

  it.each(['{1001}', '{3,2}', '{1,1001}', '{1001,}'])('refuses %s', (text) => {
    expect(() => parseRepetition(new PatternReader(text))).toThrow('invalid repeat count');
  });

  it('multiplies repetitions inside of each other', () => {
    const { root } = parsePattern('(?:a{10}){20}');
    expect(checkRepetitions(root)).toBe(true);
    expect(checkRepetitions(root, 199)).toBe(false);
  });
});
