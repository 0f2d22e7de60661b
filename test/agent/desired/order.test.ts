import { describe, expect, it } from 'vitest';
import { orderComponents } from '../../../src/agent/desired/order.ts';

describe('orderComponents', () => {
  it.each<[name: string, dependencies: Readonly<Record<string, readonly string[]>>, expected: string]>([
    ['orders by name without dependencies', { b: [], a: [], c: [] }, 'a b c'],
    ['begins with what others depend on', { a: ['c'], b: ['a'], c: [] }, 'c a b'],
    ['leaves out what the machine does not have', { a: ['missing'] }, 'a'],
    ['survives a circle', { a: ['b'], b: ['a'], c: ['b'] }, 'b a c'],
  ])('%s', (_, dependencies, expected) => {
    expect(orderComponents(new Map(Object.entries(dependencies))).join(' ')).toBe(expected);
  });
});
