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

/** `heavy 1, 0, 0`, for each kind of step that there is. */
function steps(text: string): string[] {
  return Object.entries<readonly number[]>({ ...cost(text) })
    .filter(([, counts]) => counts.some((count) => count > 0))
    .map(([kind, counts]) => `${kind} ${counts.join(', ')}`);
}

describe('costOf', () => {
  it.each<[text: string, expected: readonly string[]]>([
    ["self.a == 'x'", ['simple 4, 0, 0']],
    ['self.a == self.b', ['simple 5, 0, 0', 'heavy 1, 0, 0']],
    ["self.l.exists(c, c.t == 'x')", ['simple 3, 5, 0']],
    ["self.l.all(a, a.m.exists(b, b == 'x'))", ['simple 3, 4, 4']],
    ["self.l.filter(a, a == 'x').all(a, a == 'x')", ['simple 4, 8, 0']],
    ['self.l.all(a, size(self.a) in self.l)', ['simple 3, 7, 0', 'heavy 0, 2, 0']],
    ["'x' in self.l", ['simple 4, 0, 0', 'heavy 1, 0, 0']],
    ['self.a.size() == 1', ['simple 5, 0, 0', 'heavy 1, 0, 0']],
    ["self.a.startsWith('x') || self.a.endsWith('x')", ['simple 9, 0, 0']],
    ['self.a.startsWith(self.b) || self.a.endsWith(self.b)', ['simple 11, 0, 0', 'heavy 2, 0, 0']],
    ["self.l.all(a, a.contains('x'))", ['simple 3, 4, 0', 'heavy 0, 1, 0']],
    [`self.a.contains('${'x'.repeat(90)}')`, ['simple 4, 0, 0', 'heavy 4, 0, 0']],
    ['self.l.all(a, a.contains(self.b))', ['simple 3, 5, 0', 'squared 0, 1, 0']],
    ["[self.l, self.l, 'x'] == [self.m, self.m, 'x']", ['simple 13, 0, 0', 'heavy 5, 0, 0']],
  ])('S14 counts the steps of %s by the loops around them', (text, expected) => {
    expect(steps(text)).toEqual(expected);
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
    [
      'a search for a field grows with its square',
      'self.a.contains(self.b)',
      { longest: 0, characters: 6000 },
      5 + 101 ** 2,
    ],
  ])('S14 estimates of an expression that %s', (_, text, size, expected) => {
    expect(evaluationSteps(cost(text), size)).toBe(expected);
  });
});

describe('sizeOf', () => {
  it('S14 measures the longest list or map, and the texts', () => {
    expect(sizeOf({ a: 'four', l: [1, 2, 3], m: { b: null } })).toEqual({ longest: 3, characters: 26 });
  });

  it('S14 measures an object that is nested 100,000 levels deep', () => {
    let object: unknown = 'x';
    for (let level = 0; level < 100_000; level += 1) object = [object];
    expect(sizeOf(object)).toEqual({ longest: 1, characters: 600_001 });
  });
});
