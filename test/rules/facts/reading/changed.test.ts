import { describe, expect, it } from 'vitest';
import { changedEntries, isChanged } from '../../../../src/rules/facts/reading/changed.ts';

describe('isChanged', () => {
  it('compares the content at a path', () => {
    expect(isChanged({ a: { b: [1] } }, { a: { b: [1] }, c: 2 }, 'a', 'b')).toBe(false);
    expect(isChanged({ a: { b: [1] } }, { a: { b: [2] } }, 'a', 'b')).toBe(true);
    expect(isChanged(undefined, { a: 1 }, 'a')).toBe(true);
  });
});

describe('changedEntries', () => {
  it('names the entries that are new, missing or different', () => {
    const before = { list: [{ name: 'same' }, { name: 'last' }, { name: 'other', value: 1 }] };
    const after = { list: [{ name: 'other', value: 2 }, { name: 'new' }, { name: 'same' }] };
    expect(changedEntries('name', before, after, ['list'])).toEqual(['last', 'other', 'new']);
    expect(changedEntries('name', undefined, after, ['list'])).toEqual(['other', 'new', 'same']);
  });
});
