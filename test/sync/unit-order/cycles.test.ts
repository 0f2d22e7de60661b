import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allDependents, findCycles } from '../../../src/sync/unit-order/cycles.ts';
import type { UnitDependencies } from '../../../src/sync/unit-order/dependencies.ts';

/** `web: db cache; db: net` as dependencies. */
function dependencies(text: string): UnitDependencies {
  const lines = text.split('; ').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [unit = '', names = ''] = line.split(': ');
      return [unit, new Set(names.split(' '))];
    }),
  );
}

describe('findCycles', () => {
  it.each([
    ['no dependency', '', []],
    ['a chain', 'web: db; db: net', []],
    ['a diamond', 'web: a b; a: db; b: db', []],
    ['a unit that depends on itself', 'web: web', ['web']],
    ['two units', 'web: db; db: web', ['web db']],
    ['a cycle that others depend on', 'app: web; web: db; db: web', ['web db']],
    ['a cycle beside a unit that is ordered', 'a: b x; b: a; x: y', ['a b']],
    ['two separate cycles', 'a: b; b: a; c: d; d: c', ['a b', 'c d']],
  ])('S13 finds the cycles of %s', (_, text, expected) => {
    expect(findCycles(dependencies(text)).map((cycle) => cycle.join(' '))).toEqual(expected);
  });

  it('S13 finds a cycle of 20,000 units without a deep stack', () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `u-${index}`);
    const ring = new Map(names.map((name, index) => [name, new Set([names.at(index - 1) ?? ''])]));
    expect(findCycles(ring).map(({ length }) => length)).toEqual([20_000]);
  });

  it('S13 finds a cycle exactly where a unit depends on itself through others', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const anyGraph = fc.array(fc.tuple(name, name), { maxLength: 10 });
    fc.assert(
      fc.property(anyGraph, (edges) => {
        const graph = new Map(
          [...Map.groupBy(edges, ([unit]) => unit)].map(([unit, all]) => [
            unit,
            new Set(all.map(([, to]) => to)),
          ]),
        );
        const units = ['a', 'b', 'c', 'd', 'e'];
        const inCycle = [...allDependents(graph, units)].some(([unit, others]) => others.has(unit));
        expect(findCycles(graph).length > 0).toBe(inCycle);
      }),
    );
  });
});

describe('allDependents', () => {
  it('S13 finds the units that depend on a unit, also through others', () => {
    const found = allDependents(dependencies('web: db; db: net; job: net'), ['net', 'web']);
    expect([...(found.get('net') ?? [])].toSorted()).toEqual(['db', 'job', 'web']);
    expect(found.get('web')).toEqual(new Set());
  });
});
