import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthChange, tokensOf } from '../../../../../src/cli/commands/component/source/tokens.ts';
import { readSources } from '../../../../support/source.ts';

describe('tokensOf', () => {
  it.each([
    ['names and strings', `const a = 'it\\'s';`, ['const', 'a', '=', `'it\\'s'`, ';']],
    ['no comments', `a /* 'b */ + // c "\n d`, ['a', '+', 'd']],
    [
      'a template as a whole',
      'x(`a ${`b ${c}` + { d: 1 }} e`, 2)',
      ['x', '(', '`a ${`b ${c}` + { d: 1 }} e`', ',', '2', ')'],
    ],
    ['a template with escapes', '`\\` \\${` + 1', ['`\\` \\${`', '+', '1']],
    ['a regular expression with quotes', `a = /[/'"]'/g;`, ['a', '=', `/[/'"]'/g`, ';']],
    ['a regular expression after return', `return /'/;`, ['return', `/'/`, ';']],
    ['a division', `a / b / 'c'`, ['a', '/', 'b', '/', `'c'`]],
    ['a division after a bracket', `(a) / 2 / '3'`, ['(', 'a', ')', '/', '2', '/', `'3'`]],
    ['nothing after a comment without end', 'a /* b', ['a', '/', '*', 'b']],
  ])('reads %s', (_, text, expected) => {
    expect(tokensOf(text).map((token) => token.text)).toEqual(expected);
  });

  it('finds each token where it is, and ends, for any text', () => {
    const pieces = fc.constantFrom(
      `'`,
      '"',
      '`',
      '${',
      '}',
      '{',
      '/',
      '//',
      '/*',
      '*/',
      '\\',
      '\n',
      'a',
      ':',
      ' ',
      '[',
      ']',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        let before = 0;
        for (const token of tokensOf(text)) {
          expect(token.start).toBeGreaterThanOrEqual(before);
          expect(text.slice(token.start, token.end)).toBe(token.text);
          before = token.end;
        }
      }),
    );
  });

  it('finds brackets in pairs in all of this repository', () => {
    const files = [...readSources('src', 'fleet', 'rules').keys()].filter((path) =>
      /(?<!\.d)\.ts$/.test(path),
    );
    const open = files.filter(
      (path) =>
        tokensOf(readFileSync(path, 'utf8')).reduce((sum, token) => sum + depthChange(token), 0) !== 0,
    );
    expect(files.length).toBeGreaterThan(500);
    expect(open).toEqual([]);
  });
});
