import { describe, expect, it } from 'vitest';
import { isRecord, listAt, ownValue, parseRecord, textAt, valueAt } from '../../../src/kube/objects/json.ts';

const VALUE = { a: { b: [{ c: 'x' }, null] }, n: 1 };

describe('valueAt', () => {
  it.each<[path: (string | number)[], expected: unknown]>([
    [[], VALUE],
    [['a', 'b', 0, 'c'], 'x'],
    [['a', 'b', 1], null],
    [['a', 'b', 2, 'c'], undefined],
    [['n', 'x'], undefined],
    [['a', 'b', 'length'], undefined],
    [['toString'], undefined],
  ])('at %j is %j', (path, expected) => {
    expect(valueAt(VALUE, ...path)).toEqual(expected);
  });
});

describe('ownValue', () => {
  it('knows no inherited key', () => {
    expect(['a', 'b', 'constructor'].map((key) => ownValue({ a: 1 }, key))).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });
});

describe('textAt and listAt', () => {
  it('return only values of their type', () => {
    expect([textAt(VALUE, 'a', 'b', 0, 'c'), textAt(VALUE, 'n')]).toEqual(['x', undefined]);
    expect([listAt(VALUE, 'a', 'b').length, listAt(VALUE, 'n')]).toEqual([2, []]);
  });
});

describe('isRecord', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
  ])('%j: %s', (value, expected) => {
    expect(isRecord(value)).toBe(expected);
  });
});

describe('parseRecord', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['[1]', undefined],
    ['null', undefined],
    ['"x"', undefined],
    ['{"a":', undefined],
    ['', undefined],
    ['<html>', undefined],
  ])('reads %s', (text, expected) => {
    expect(parseRecord(text)).toEqual(expected);
  });
});
