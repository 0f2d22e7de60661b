import { describe, expect, it } from 'vitest';
import { splitSource } from '../../../lint/words/source-text.ts';

describe('splitSource', () => {
  it.each<[source: string, prose: readonly string[]]>([
    ['const a = 1; // one\n', ['// one']],
    ['// one\n  // two\nf();', ['// one\n  // two']],
    ['/** doc */ f(`a ${b} c`);', ['/** doc */', '`a ${', '} c`']],
    ['f(`a ${g(`b ${c}`)} d`);', ['`a ${', '`b ${', '}`', '} d`']],
    ['f(`a ${ { x: 1 } } d`);', ['`a ${', '} d`']],
    ["f('it\\'s', \"no // comment\");", ["'it\\'s'", '"no // comment"']],
    ["const r = /['\"`/*]/.test(x); f('y');", ["'y'"]],
    ["const r = a / b; f('y / z');", ["'y / z'"]],
    ["f(/[/']/, 'y');", ["'y'"]],
    ['f(`\\`quoted\\``);', ['`\\`quoted\\``']],
  ])('tells comments and strings from code in %j', (source, prose) => {
    const parts = splitSource(source);
    expect(parts.filter(({ kind }) => kind !== 'code').map(({ text }) => text)).toEqual(prose);
    expect(parts.map(({ text }) => text).join('')).toBe(source);
  });

  it('knows the line of each part', () => {
    const parts = splitSource("f();\n/*\n*/ g('a');\nh('b');");
    expect(parts.filter(({ kind }) => kind !== 'code').map(({ text, line }) => [text, line])).toEqual([
      ['/*\n*/', 2],
      ["'a'", 3],
      ["'b'", 4],
    ]);
  });
});
