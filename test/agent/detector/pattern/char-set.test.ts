import { describe, expect, it } from 'vitest';
import {
  charSet,
  codesOf,
  complementOf,
  includesChar,
  singleChar,
  unionOf,
} from '../../../../src/agent/detector/pattern/char-set.ts';

describe('char set', () => {
  it('sorts ranges and merges those that touch', () => {
    expect(
      charSet([
        [5, 7],
        [1, 2],
        [3, 4],
        [6, 9],
      ]),
    ).toEqual([[1, 9]]);
    expect(unionOf([[1, 2]], [[4, 5]])).toEqual([
      [1, 2],
      [4, 5],
    ]);
  });

  it('has no character of its complement', () => {
    const set = charSet([
      [0, 3],
      [10, 20],
    ]);
    expect(complementOf(set)).toEqual([
      [4, 9],
      [21, 0x10ffff],
    ]);
    expect(complementOf(complementOf(set))).toEqual(set);
    expect(complementOf([])).toEqual([[0, 0x10ffff]]);
  });

  it('finds characters between, in and after its ranges', () => {
    const set = charSet([
      [2, 3],
      [10, 20],
    ]);
    expect([1, 2, 3, 4, 9, 10, 20, 21].filter((code) => includesChar(set, code))).toEqual([2, 3, 10, 20]);
  });

  it('knows its only character', () => {
    expect([singleChar([[7, 7]]), singleChar([[7, 8]]), singleChar([])]).toEqual([7, undefined, undefined]);
    expect(codesOf('a😀')).toEqual([0x61, 0x1f600]);
  });
});
