import { describe, expect, it } from 'vitest';
import { parsePattern } from '../../../../src/agent/detector/pattern/parse.ts';
import { compileProgram } from '../../../../src/agent/detector/pattern/program.ts';

describe('program', () => {
  it.each([
    ['task .+:\\d+ blocked for more than \\d+ seconds', ' blocked for more than '],
    ['abc|abcd', ''],
    ['(?i)abc', ''],
    ['a(b)cd', 'cd'],
    ['x?abc*', 'ab'],
  ])('knows a text that each match of %s contains', (text, required) => {
    expect(compileProgram(parsePattern(text), text).required).toBe(required);
  });

  it('writes a counted repetition as copies', () => {
    const { instructions } = compileProgram(parsePattern('a{2,4}'), '');
    expect(instructions.map(({ op }) => op)).toEqual([
      'Match',
      'Chars',
      'Split',
      'Chars',
      'Split',
      'Chars',
      'Chars',
    ]);
  });
});
