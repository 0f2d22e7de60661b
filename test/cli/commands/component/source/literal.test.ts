import { describe, expect, it } from 'vitest';
import {
  type LiteralValue,
  readObjectLiteral,
} from '../../../../../src/cli/commands/component/source/literal.ts';
import { tokensOf } from '../../../../../src/cli/commands/component/source/tokens.ts';

/** Shows an object without the places of its parts. */
function read(text: string): unknown {
  const object = readObjectLiteral(tokensOf(text), 0);
  return object && show(object);
}

function show(value: LiteralValue): unknown {
  if (value.kind === 'string') return value.value;
  if (value.kind === 'opaque') return undefined;
  const own = value.properties.map(({ name, value: inner }) => [name, show(inner)]);
  return { ...Object.fromEntries(own), ...(value.opaque && { '?': true }) };
}

describe('readObjectLiteral', () => {
  it.each([
    ['strings and objects', `{ a: 'b', 'c-d': { "e": "f", }, }`, { a: 'b', 'c-d': { e: 'f' } }],
    ['an empty object', '{}', {}],
    [
      'an expression as opaque',
      `{ a: 'b' + c, d: f({ x: 'y' }, 1), g: 'h' }`,
      { a: undefined, d: undefined, g: 'h' },
    ],
    ['a cast as opaque', `{ a: { b: 'c' } as const }`, { a: undefined }],
    ['a template and an escape as opaque', "{ a: `b`, c: 'd\\n' }", { a: undefined, c: undefined }],
    ['a spread as a part without a name', `{ ...a, b: 'c' }`, { b: 'c', '?': true }],
    ['a shorthand', `{ a, b: 'c' }`, { b: 'c', '?': true }],
    ['a computed name', `{ [a]: 'b' }`, { '?': true }],
    ['a method', `{ a() { return 'x, y'; }, b: 'c' }`, { b: 'c', '?': true }],
    ['an array', `{ a: ['x', { y: 'z' }], b: 'c' }`, { a: undefined, b: 'c' }],
  ])('reads %s', (_, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['no brace', `[1]`],
    ['no end', `{ a: 'b'`],
    ['nothing', ''],
  ])('reads nothing of a text with %s', (_, text) => {
    expect(read(text)).toBeUndefined();
  });
});
