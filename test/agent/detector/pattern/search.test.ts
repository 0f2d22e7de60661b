import { describe, expect, it } from 'vitest';
import { parsePattern } from '../../../../src/agent/detector/pattern/parse.ts';
import { compileProgram } from '../../../../src/agent/detector/pattern/program.ts';
import { searchText } from '../../../../src/agent/detector/pattern/search.ts';

describe('search', () => {
  it('finds the leftmost match, and of those the preferred one', () => {
    expect(search('a|ab', 'xab')).toEqual([1, 2]);
    expect(search('(?:ab|a)(b?)', 'xab')).toEqual([1, 3, 3, 3]);
    expect(search('(x)?b', 'ab')).toEqual([1, 2, -1, -1]);
  });

  it('visits each instruction at most once a character', () => {
    const program = compileProgram(parsePattern('(a+)+c'), '');
    const text = `${'a'.repeat(1000)}bc`;
    expect(searchText(program, text, { maxSteps: program.instructions.length * (text.length + 1) })).toBe(
      'NoMatch',
    );
    expect(searchText(program, text, { maxSteps: text.length })).toBe('TooLong');
  });

  it('finds no match that begins earlier than it may, but looks at the text before', () => {
    expect(searchFrom('ab', 1)).toEqual([2, 4]);
    expect(searchFrom('ab', 3)).toBe('NoMatch');
    expect(searchFrom('^ab', 2)).toBe('NoMatch');
    expect(searchFrom('\\bb', 1)).toBe('NoMatch');
  });

  it('does not begin where the required text is not contained', () => {
    expect(searchText(compileProgram(parsePattern('abc.*'), ''), 'ab', { maxSteps: 0 })).toBe('NoMatch');
  });
});

function search(pattern: string, text: string): unknown {
  return searchText(compileProgram(parsePattern(pattern), pattern), text, { maxSteps: 1000 });
}

function searchFrom(pattern: string, from: number): unknown {
  const program = compileProgram(parsePattern(pattern), pattern);
  return searchText(program, 'abab', { maxSteps: 1000, from });
}
