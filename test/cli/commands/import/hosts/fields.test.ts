import { describe, expect, it } from 'vitest';
import { HOST_FIELDS, isMachineName } from '../../../../../src/cli/commands/import/hosts/fields.ts';

describe('isMachineName', () => {
  it.each(['n1', 'rack7-n03', 'n1.example.com', '10', 'a'.repeat(63)])('accepts %s', (name) => {
    expect(isMachineName(name)).toBe(true);
  });

  it.each(['', 'N1', 'n_1', '-n1', 'n1-', 'n1..x', 'a'.repeat(64)])('refuses %j', (name) => {
    expect(isMachineName(name)).toBe(false);
  });
});

describe('HOST_FIELDS', () => {
  it.each([
    ['labels', 'x'],
    ['labels', { '-a': 'x' }],
    ['labels', { a: '-' }],
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
