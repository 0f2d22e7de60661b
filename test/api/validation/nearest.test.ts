import { describe, expect, it } from 'vitest';
import { nearest } from '../../../src/api/validation/nearest.ts';

const FIELDS = ['environment', 'region', 'paused', 'pauses', 'hosted', 'deletion'];

describe('nearest', () => {
  it.each([
    ['enviroment', 'environment'],
    ['Environment', 'environment'],
    ['regoin', 'region'],
    ['hsted', 'hosted'],
    ['pause', 'paused'],
    ['colour', undefined],
    ['x', undefined],
    ['', undefined],
  ])('%j was meant to be %j', (word, meant) => {
    expect(nearest(word, FIELDS)).toBe(meant);
  });

  it('does not depend on the order of the known words', () => {
    expect(nearest('pause', FIELDS.toReversed())).toBe(nearest('pause', FIELDS));
  });

  it('returns undefined without known words', () => {
    expect(nearest('a', [])).toBeUndefined();
  });
});
