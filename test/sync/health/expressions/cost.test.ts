import { Environment } from '@marcbachmann/cel-js';
import { describe, expect, it } from 'vitest';
import {
  costOf,
  type ExpressionCost,
  evaluationSteps,
  sizeOf,
} from '../../../../src/sync/health/expressions/cost.ts';

function cost(text: string): ExpressionCost {
  const found = costOf(new Environment().registerVariable('self', 'dyn').parse(text).ast);
  if ('position' in found) throw new Error(found.message);
  return found;
}

describe('costOf', () => {
  it.each<[text: string, simple: readonly number[], heavy: readonly number[]]>([
    ["self.a == 'x'", [4, 0, 0], [0, 0, 0]],
    ['self.a == self.b', [5, 0, 0], [1, 0, 0]],
    ["self.l.exists(c, c.t == 'x')", [3, 5, 0], [0, 0, 0]],
    ["self.l.all(a, a.m.exists(b, b == 'x'))", [3, 4, 4], [0, 0, 0]],
    ["self.l.filter(a, a == 'x').all(a, a == 'x')", [4, 8, 0], [0, 0, 0]],
    ['self.a.contains(self.b) && size(self.a) in self.l', [12, 0, 0], [3, 0, 0]],
  ])('S14 counts the steps of %s by the loops around them', (text, simple, heavy) => {
    expect(cost(text)).toEqual({ simple, heavy });
  });
});

describe('evaluationSteps', () => {
  it.each([
    ['one loop grows with the list', 'self.l.all(a, a)', { longest: 1000, characters: 0 }, 3 + 2 * 1000],
    [
      'two loops grow with its square',
      'self.l.all(a, self.l.all(b, b))',
      { longest: 100, characters: 0 },
      3 + 400 + 20_000,
    ],
    [
      'a short list counts as one that the expression may contain',
      'self.l.all(a, a)',
      { longest: 1, characters: 0 },
      3 + 2 * 32,
    ],
    ['a comparison grows with the object', 'self.a == self.b', { longest: 0, characters: 6000 }, 5 + 101],
  ])('S14 estimates of an expression that %s', (_, text, size, expected) => {
    expect(evaluationSteps(cost(text), size)).toBe(expected);
  });
});

describe('sizeOf', () => {
  it('S14 measures the longest list or map, and the texts', () => {
    expect(sizeOf({ a: 'four', l: [1, 2, 3], m: { b: null } })).toEqual({ longest: 3, characters: 11 });
  });

  it('S14 measures an object that is nested 100,000 levels deep', () => {
    let object: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) object = [object];
    expect(sizeOf(object)).toEqual({ longest: 1, characters: 100_001 });
  });
});
