import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changedFields,
  commonFields,
  type FieldSet,
  fieldSetOf,
  removedFields,
  subtract,
  union,
} from '../../../src/sim/api-server/field-set.ts';
import { listByKey, recordType } from '../../../src/sim/api-server/field-types.ts';

const TYPE = recordType({
  parts: listByKey('name'),
  tags: { 'x-kubernetes-list-type': 'set' },
  whole: { 'x-kubernetes-map-type': 'atomic' },
});
const PART = 'k:{"name":"a"}';

describe('fieldSetOf', () => {
  it.each([
    ['fields', { a: { b: 1 }, c: undefined, d: {} }, { 'f:a': { 'f:b': {} }, 'f:d': {} }],
    ['atomic lists', { args: ['x'] }, { 'f:args': {} }],
    ['atomic maps', { whole: { x: 1 } }, { 'f:whole': {} }],
    ['values of sets', { tags: ['a'] }, { 'f:tags': { 'v:"a"': {} } }],
    ['entries by key', { parts: [{ name: 'a' }] }, { 'f:parts': { [PART]: { '.': {}, 'f:name': {} } } }],
  ])('names %s', (_, value, fields) => {
    expect(fieldSetOf(value, TYPE)).toEqual(fields);
  });
});

describe('changedFields and removedFields', () => {
  it.each<[string, object, object, (FieldSet | undefined)[]]>([
    [
      'nothing',
      { a: [1], parts: [{ name: 'a' }] },
      { a: [1], parts: [{ name: 'a' }] },
      [undefined, undefined],
    ],
    ['a value', { a: 1, b: 2 }, { a: 2, b: 2 }, [{ 'f:a': {} }, undefined]],
    ['a removed field with all below it', { a: { b: 1 } }, { c: 1 }, [{ 'f:c': {} }, { 'f:a': {} }]],
    ['an emptied map', { a: { b: 1 } }, { a: {} }, [{ 'f:a': {} }, { 'f:a': { 'f:b': {} } }]],
    [
      'an entry',
      { parts: [{ name: 'a', x: 1 }] },
      { parts: [{ name: 'a', y: 1 }, { name: 'b' }] },
      [
        { 'f:parts': { [PART]: { 'f:y': {} }, 'k:{"name":"b"}': { '.': {}, 'f:name': {} } } },
        { 'f:parts': { [PART]: { 'f:x': {} } } },
      ],
    ],
    [
      'a value of a set',
      { tags: ['a', 'b'] },
      { tags: ['b', 'c'] },
      [{ 'f:tags': { 'v:"c"': {} } }, { 'f:tags': { 'v:"a"': {} } }],
    ],
  ])('find %s', (_, before, after, [changed, removed]) => {
    expect(changedFields(before, after, TYPE)).toEqual(changed);
    expect(removedFields(before, after, TYPE)).toEqual(removed);
  });
});

describe('subtract', () => {
  const set = { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} };

  it.each<[Parameters<typeof subtract>[2], FieldSet, FieldSet | undefined]>([
    ['same', { 'f:a': {} }, { 'f:a': { 'f:b': {} }, 'f:c': {} }],
    ['same', { 'f:a': { 'f:b': {} } }, { 'f:a': {}, 'f:c': {} }],
    ['within', { 'f:c': { 'f:z': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }],
    ['within', { 'f:a': { 'f:z': {} } }, { 'f:a': { '.': {}, 'f:b': {} }, 'f:c': {} }],
    ['within', { 'f:a': {} }, { 'f:a': { 'f:b': {} }, 'f:c': {} }],
    ['below', { 'f:a': {} }, { 'f:c': {} }],
    ['below', { 'f:a': { 'f:b': {} }, 'f:c': {} }, { 'f:a': {} }],
    ['same', set, undefined],
  ])('removes what is the %s: %j', (how, other, left) => {
    expect(subtract(set, other, how)).toEqual(left);
  });

  it('returns the set itself where nothing is removed', () => {
    expect(subtract(set, { 'f:x': {} }, 'same')).toBe(set);
    expect(subtract(set, undefined, 'below')).toBe(set);
  });
});

describe('union', () => {
  const anyValue = fc.dictionary(
    fc.constantFrom('a', 'b'),
    fc.oneof(fc.constant(1), fc.dictionary(fc.constantFrom('c', 'd'), fc.constant(1))),
    { minKeys: 1 },
  );

  it('has the fields of both, and what is subtracted is not in it', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (one, other) => {
        const [left, right] = [one, other].map((value) => fieldSetOf(value, {}));
        if (!left || !right) throw new Error('there are two');
        const both = union(left, right);
        expect(paths(both)).toEqual([...new Set([...paths(left), ...paths(right)])].toSorted());
        const rest = subtract(both, right, 'same');
        expect(rest ? paths(rest) : []).toEqual(paths(left).filter((path) => !paths(right).includes(path)));
      }),
    );
  });
});

function paths(set: FieldSet): readonly string[] {
  return commonFields(set, set).toSorted();
}
