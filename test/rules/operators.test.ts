import { describe, expect, it } from 'vitest';
import type { ComparisonOperator, ComparisonValue } from '../../src/rules/compiled-rule.ts';
import { COMPARISONS, isNumeric, isOperator } from '../../src/rules/operators.ts';

const OBJECT = { valueOf: () => 5 };

describe('a comparison', () => {
  it.each<readonly [fact: unknown, operator: ComparisonOperator, value: ComparisonValue, answer: boolean]>([
    ['True', 'equal', 'True', true],
    ['True', 'equal', 'true', false],
    [0, 'equal', 0, true],
    [false, 'equal', true, false],
    ['b', 'in', ['a', 'b'], true],
    ['c', 'in', ['a', 'b'], false],
    ['a,b', 'in', ['a', 'b'], false],
    [2, 'in', [1, 2], true],
    [['a', 'b'], 'contains', 'b', true],
    [['a', 'b'], 'contains', 'c', false],
    [[], 'contains', 'c', false],
    [4, 'lessThan', 5, true],
    [5, 'lessThan', 5, false],
    [5, 'lessThanInclusive', 5, true],
    [6, 'lessThanInclusive', 5, false],
    [6, 'greaterThan', 5, true],
    [5, 'greaterThan', 5, false],
    [5, 'greaterThanInclusive', 5, true],
    [4, 'greaterThanInclusive', 5, false],
  ])('evaluates %j %s %j to %s', (fact, operator, value, answer) => {
    expect(COMPARISONS[operator](fact, value)).toBe(answer);
  });

  it.each<readonly [fact: unknown, operator: ComparisonOperator, value: ComparisonValue]>([
    [undefined, 'equal', 'True'],
    [true, 'equal', 'True'],
    ['5', 'equal', 5],
    ['a', 'equal', ['a']],
    ['a', 'in', 'abc'],
    [1, 'in', ['1']],
    [undefined, 'in', ['a']],
    ['abc', 'contains', 'b'],
    [['a'], 'contains', ['a']],
    ['9', 'greaterThan', 5],
    [9, 'greaterThan', '5'],
    [Number.NaN, 'lessThan', 5],
    [Infinity, 'greaterThan', 5],
    [OBJECT, 'greaterThanInclusive', 5],
    [null, 'lessThan', 5],
  ])('returns undefined for %j %s %j', (fact, operator, value) => {
    expect(COMPARISONS[operator](fact, value)).toBeUndefined();
  });
});

describe('an operator', () => {
  it('is one of seven, four of them numeric', () => {
    const known = Object.keys(COMPARISONS).filter(isOperator);
    expect(known).toHaveLength(7);
    expect(known.filter(isNumeric)).toHaveLength(4);
    expect(['toString', 'notEqual', undefined].filter(isOperator)).toEqual([]);
  });
});
