import { describe, expect, it } from 'vitest';
import {
  DEFAULT_STYLE,
  formatEntry,
  styleOf,
} from '../../../../../src/cli/commands/component/source/entry.ts';
import { readObjectLiteral } from '../../../../../src/cli/commands/component/source/literal.ts';
import { tokensOf } from '../../../../../src/cli/commands/component/source/tokens.ts';

describe('styleOf', () => {
  it.each([
    ['a neighbor', `{\n   '1': {\n        a: 'b',\n   },\n}`, { indent: '   ', step: '     ' }],
    ['double quotes on one line', `{\n  "1": { a: 'b' },\n}`, { indent: '  ', quote: '"', isOneLine: true }],
    ['an entry that is not an object', `{\n    '1': old,\n}`, { indent: '    ', isOneLine: true }],
    ['an empty object', '{}', { indent: '  ' }],
    ['tabs', '{\n\t"1": {\n\t\ta: "b" } }', { indent: '\t', step: '\t', quote: '"' }],
    ['line ends of Windows', '{\r\n}', { indent: '  ', eol: '\r\n' }],
  ])('follows %s', (_, text, expected) => {
    const object = readObjectLiteral(tokensOf(text), 0);
    expect(object && styleOf(text, object)).toEqual({ ...DEFAULT_STYLE, ...expected });
  });
});

describe('formatEntry', () => {
  const digests = { arm64: 'b', amd64: 'a' };

  it('has a line for each digest', () => {
    const style = { ...DEFAULT_STYLE, indent: ' ', step: '\t', eol: '\r\n' };
    expect(formatEntry('1.0.0', digests, style)).toBe(
      " '1.0.0': {\r\n \tamd64: 'a',\r\n \tarm64: 'b',\r\n }",
    );
  });

  it('fits on one line', () => {
    const style = { ...DEFAULT_STYLE, quote: '"', isOneLine: true };
    expect(formatEntry('1.0.0', { url: 'c', ...digests }, style)).toBe(
      '    "1.0.0": { url: "c", amd64: "a", arm64: "b" }',
    );
  });
});
