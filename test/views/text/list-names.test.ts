import { describe, expect, it } from 'vitest';
import { listNames } from '../../../src/views/text/list-names.ts';

describe('listNames', () => {
  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c'], 'a, b and c'],
    ['a b c d e f g h i j'.split(' '), 'a, b, c, d, e, f, g, h and 2 more'],
  ])('lists %j as "%s"', (names, text) => {
    expect(listNames(names)).toBe(text);
  });
});
