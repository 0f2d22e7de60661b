import { describe, expect, it } from 'vitest';
import { truncate } from '../../../src/kube/objects/truncate.ts';

describe('truncate', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀…'],
  ])('truncates %s to %i code points: %s', (text, length, expected) => {
    expect(truncate(text, length)).toBe(expected);
  });
});
