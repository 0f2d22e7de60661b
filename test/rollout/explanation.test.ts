import { describe, expect, it } from 'vitest';
import { firstMoment } from '../../src/os/dates.ts';
import { later, NOW } from './builders.ts';

describe('firstMoment', () => {
  it.each([
    [[], undefined],
    [[undefined], undefined],
    [[later(5), undefined, NOW, later(1)], NOW],
  ])('finds in %j: %s', (moments, expected) => {
    expect(firstMoment(moments)).toEqual(expected);
  });
});
