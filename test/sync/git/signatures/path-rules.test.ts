import { describe, expect, it } from 'vitest';
import { isCovered } from '../../../../src/sync/git/signatures/path-rules.ts';

describe('the paths of signers', () => {
  it.each<[path: string, covered: string[], expected: boolean]>([
    ['a/b.ts', [], true],
    ['a/b.ts', ['a'], true],
    ['a/b.ts', ['./a/'], true],
    ['a/b.ts', ['.'], true],
    ['a/b.ts', ['a/b.ts'], true],
    ['a/b.ts', ['c', 'a'], true],
    ['ab/c.ts', ['a'], false],
    ['a', ['a/b'], false],
    ['A/b.ts', ['a'], false],
  ])('S19 decide that %s is within %j: %s', (path, covered, expected) => {
    expect(isCovered(path, covered)).toBe(expected);
  });
});
