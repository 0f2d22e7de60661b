import { describe, expect, it } from 'vitest';
import { alternate } from './longest-first.ts';

describe('alternate', () => {
  it.each<[first: string, second: string, want: string]>([
    ['', 'abc', 'abc'],
    ['123', '', '123'],
    ['123', 'abc', '1a2b3c'],
    ['12', 'abcdef', '1abc2def'],
    ['1234', 'ab', '1a23b4'],
  ])('spreads %s and %s evenly, each in its order', (first, second, want) => {
    expect(alternate(first.split(''), second.split('')).join('')).toBe(want);
  });

  it('keeps all', () => {
    const numbers = Array.from({ length: 1013 }, (_, index) => index);
    expect(alternate([-1, -2, -3], numbers).filter((each) => each >= 0)).toEqual(numbers);
  });
});
