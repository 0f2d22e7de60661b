import { describe, expect, it } from 'vitest';
import { earliest } from '../../src/rollout/explanation.ts';
import { later, NOW } from './builders.ts';

describe('earliest', () => {
  it.each([
    [[], undefined],
    [[undefined], undefined],
    [[later(5), undefined, NOW, later(1)], NOW],
  ])('finds in %j: %s', (moments, expected) => {
    expect(earliest(moments)).toEqual(expected);
  });
});
