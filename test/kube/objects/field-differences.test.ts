import { describe, expect, it } from 'vitest';
import { findFieldDifferences, matchesValue } from '../../../src/kube/objects/field-differences.ts';

const ignored = (path: string): boolean => path === 'a.b';

describe('findFieldDifferences', () => {
  it.each<[name: string, before: unknown, after: unknown, paths: string[]]>([
    ['finds nothing in equal values, in any order of keys', { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ['names a nested field', { a: { b: 1 } }, { a: { b: 2 } }, ['a.b']],
    ['shows an added object by its fields', {}, { a: { b: 1, c: 2 } }, ['a.b', 'a.c']],
    ['matches items of a list by name', [{ name: 'x', v: 1 }], [{ name: 'x', v: 2 }], ['[x].v']],
    ['matches items without names by index', { a: [1, 2] }, { a: [1, 3] }, ['a[1]']],
    [
      'names a list in another order',
      { a: [{ name: 'x' }, { name: 'y' }] },
      { a: [{ name: 'y' }, { name: 'x' }] },
      ['a'],
    ],
    ['quotes keys that are not identifiers', { a: { 'x/y': 1 } }, { a: { 'x/y': 2 } }, ['a["x/y"]']],
    ['names the field when its type changes', { a: { b: [] } }, { a: { b: 'x' } }, ['a.b']],
    ['names the whole value as an empty path', 1, 2, ['']],
  ])('%s', (_name, before, after, paths) => {
    expect(findFieldDifferences(before, after).map(({ path }) => path)).toEqual(paths);
  });

  it('skips ignored paths, and objects in which only ignored paths differ', () => {
    expect(findFieldDifferences({ a: { b: 1 } }, { a: { b: 2 } }, ignored)).toEqual([]);
    expect(findFieldDifferences({ a: { b: 1, c: 1 } }, { a: { b: 2, c: 2 } }, ignored)).toEqual([
      { path: 'a.c', before: 1, after: 2 },
    ]);
  });
});

describe('matchesValue', () => {
  it.each<[name: string, desired: unknown, live: unknown, expected: boolean]>([
    ['accepts fields that are not declared', { a: 1 }, { a: 1, b: 2 }, true],
    ['finds another value', { a: { b: 1 } }, { a: { b: 2 } }, false],
    ['finds a missing field', { a: { b: 1 } }, { a: {} }, false],
    ['takes a missing field for null', { a: null }, {}, true],
    ['finds a longer list', { a: [1] }, { a: [1, 2] }, false],
    ['compares items of a list by index', { a: [{ b: 1 }] }, { a: [{ b: 1, c: 2 }] }, true],
    ['finds a value of another type', { a: {} }, { a: [] }, false],
    ['finds no inherited field', { constructor: { a: 1 } }, {}, false],
  ])('%s', (_, desired, live, expected) => {
    expect(matchesValue(desired, live)).toBe(expected);
  });
});
