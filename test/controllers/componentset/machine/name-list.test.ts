import { describe, expect, it } from 'vitest';
import { nameList } from '../../../../src/controllers/componentset/machine/name-list.ts';

const machines = ['a', 'b', 'c', 'd'].map((name) => ({ name }));

describe('nameList', () => {
  it.each([
    ['all names where there is room', 4, 'a, b, c, d'],
    ['the first names, and how many more there are', 3, 'a, b, c and 1 more'],
  ])('lists %s', (_, max, expected) => {
    expect(nameList(machines, max)).toBe(expected);
  });

  it('names twenty machines unless another number is given', () => {
    const many = Array.from({ length: 22 }, (_, index) => ({ name: `m-${index}` }));
    expect(nameList(many)).toMatch(/m-19 and 2 more$/);
  });
});
