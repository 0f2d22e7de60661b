import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './sweep-size.ts';

describe('properties without a seed of their own', () => {
  it('draw the cases of the seed of the run', () => {
    const drawn: number[] = [];
    fc.assert(fc.property(fc.integer(), (value) => void drawn.push(value)));
    expect(drawn).toEqual(fc.sample(fc.integer(), { seed: SEED, numRuns: drawn.length }));
  });
});
