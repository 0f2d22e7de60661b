import { describe, expect, it } from 'vitest';
import { HOST_FIELDS } from '../../../../../src/cli/commands/import/hosts/fields.ts';

describe('HOST_FIELDS', () => {
  it.each([
    ['labels', 'x'],
    ['labels', { '-a': 'x' }],
    ['labels', { a: '-' }],
    ['labels', { a: 'x'.repeat(64) }],
    ['zone', ''],
    ['name', 'a'.repeat(64)],
    ['name', 'n_1'],
    ['via', []],
    ['hostKeys', {}],
    ['address', 7],
    ['port', 22.5],
    ['user', 'a b'],
  ])('refuse %s %j', (field, value) => {
    expect(HOST_FIELDS.fields[field]?.(value)).toMatch(/^expected /);
  });

  it.each([
    ['labels', { 'example.com/pool': 'a_B.c', empty: '' }],
    ['zone', 'eu-1'],
    ['port', 22],
  ])('accept %s %j', (field, value) => {
    expect(HOST_FIELDS.fields[field]?.(value)).toBeUndefined();
  });
});
