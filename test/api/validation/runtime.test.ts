import { describe, expect, it } from 'vitest';
import { duplicateOf, lengthOf, re2 } from '../../../src/api/validation/runtime.ts';

describe('re2', () => {
  it('supports RE2 syntax that JavaScript does not have', () => {
    expect(re2('(?i)^kube').test('KUBE')).toBe(true);
    expect(re2('^(?P<major>v1)$').test('v1')).toBe(true);
  });

  it('takes linear time', () => {
    expect(re2('^(a+)+$').test(`${'a'.repeat(5_000)}b`)).toBe(false);
  });

  it('searches, unless the pattern is anchored', () => {
    expect(re2('b').test('abc')).toBe(true);
    expect(re2('^b$').test('abc')).toBe(false);
  });

  it('does not match before a trailing newline', () => {
    expect(re2('^a$').test('a\n')).toBe(false);
  });

  it('caches patterns', () => {
    expect(String(re2('^a$'))).not.toBe(String(re2('^b$')));
    expect(re2('^a$')).toBe(re2('^a$'));
  });
});

describe('lengthOf', () => {
  it.each([
    ['', 0],
    ['kube', 4],
    ['für', 3],
    ['节点', 2],
    ['🚀', 1],
  ])('%j has %i characters, as in Go', (text, length) => {
    expect(lengthOf(text)).toBe(length);
  });
});

describe('duplicateOf', () => {
  it.each<[what: string, index: number, entries: readonly unknown[], keys: readonly string[]]>([
    ['nothing', -1, [], ['name']],
    ['different names', -1, [{ name: 'a' }, { name: 'b' }], ['name']],
    ['the same name', 2, [{ name: 'a' }, { name: 'b' }, { name: 'a' }], ['name']],
    [
      'one of two keys',
      -1,
      [
        { os: 'linux', arch: 'amd64' },
        { os: 'linux', arch: 'arm64' },
      ],
      ['os', 'arch'],
    ],
    [
      'both keys',
      1,
      [
        { os: 'linux', arch: 'amd64' },
        { os: 'linux', arch: 'amd64' },
      ],
      ['os', 'arch'],
    ],
    ['a number and its text', -1, [{ name: 1 }, { name: '1' }], ['name']],
    [
      'keys that run into each other',
      -1,
      [
        { a: 'x', b: 'yz' },
        { a: 'xy', b: 'z' },
      ],
      ['a', 'b'],
    ],
    ['entries that are not objects', -1, ['a', 'a', null, null], ['name']],
  ])('%s: %i', (_, index, entries, keys) => {
    expect(duplicateOf(entries, keys)).toBe(index);
  });
});
