import { describe, expect, it } from 'vitest';
import {
  compareCommon,
  compareNumbers,
  numbersOf,
} from '../../../../src/controllers/componentset/compat/numbered-version.ts';

describe('numbersOf', () => {
  it.each<[version: string, numbers: readonly number[] | undefined]>([
    ['1.34', [1, 34]],
    ['v1.36.3', [1, 36, 3]],
    ['v1.33.1+k3s1', [1, 33, 1]],
    ['6.1.0-18-amd64', [6, 1, 0, 18]],
    ['4.18.0-513.9.1.el8_9.x86_64', [4, 18, 0, 513, 9, 1]],
    ['6.8.0-rc1', [6, 8, 0]],
    ['', undefined],
    ['mainline', undefined],
  ])('reads %s', (version, numbers) => {
    expect(numbersOf(version)).toEqual(numbers);
  });
});

describe('compareCommon', () => {
  it('takes a version without a patch for each of its patches', () => {
    expect(compareCommon([1, 34], [1, 34, 7])).toBe(0);
    expect(compareCommon([1, 35], [1, 34, 7])).toBeGreaterThan(0);
    expect(compareCommon([1, 9], [1, 10])).toBeLessThan(0);
  });
});

describe('compareNumbers', () => {
  it('takes a number that is missing for 0', () => {
    expect(compareNumbers([6, 1], [6, 1, 0])).toBe(0);
    expect(compareNumbers([6, 1], [6, 1, 2])).toBeLessThan(0);
    expect(compareNumbers([6, 10], [6, 9, 9])).toBeGreaterThan(0);
  });
});
