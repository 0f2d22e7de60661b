import { describe, expect, it } from 'vitest';
import { LONG, randomFrom, SEED, slice, stride } from './sweep-size.ts';

const items = Array.from({ length: 1000 }, (_, index) => index);

describe('a slice of a sweep', () => {
  it.skipIf(LONG)('is bounded, in order, without repeats, and the same each time', () => {
    const chosen = slice(items, 40);
    expect(chosen).toHaveLength(40);
    expect(chosen).toEqual([...new Set(chosen)].toSorted((a, b) => a - b));
    expect(slice(items, 40)).toEqual(chosen);
  });

  it('has all items when there are few', () => {
    expect(slice([1, 2, 3], 3)).toEqual([1, 2, 3]);
  });
});

describe('a stride through a sweep', () => {
  it.skipIf(LONG)('begins at another number with the next seed, and repeats after as many', () => {
    const { first, step } = stride(3);
    expect([first, step]).toEqual([1 + (SEED % 3), 3]);
  });
});

describe('seeded numbers', () => {
  it('repeat for a seed, differ between seeds and spread over [0, 1)', () => {
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    const tenths = new Set(draw(7).map((value) => Math.floor(value * 10)));
    expect([...tenths].toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

function draw(seed: number): number[] {
  const random = randomFrom(seed);
  return items.map(() => random());
}
