import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { countChanges, countDeletes } from '../../../src/sync/hub/count-changes.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';

function rendered(targets: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>): Rendered {
  return {
    commit: 'c',
    targets: Object.entries(targets).map(([target, units]) => ({
      target,
      digest: digestOf(units),
      units: Object.entries(units).map(([unit, names]) => ({
        unit,
        digest: digestOf(names),
        objects: names.map((name) => ({ object: objectOf(name), source: {} })),
      })),
    })),
  };
}

function objectOf(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

describe('countDeletes', () => {
  it.each<[name: string, before: Rendered, after: Rendered, expected: number]>([
    ['counts what is removed', rendered({ a: { web: ['x', 'y', 'z'] } }), rendered({ a: { web: ['y'] } }), 2],
    [
      'counts nothing that moves to another unit',
      rendered({ a: { web: ['x', 'y'] } }),
      rendered({ a: { web: ['x'], db: ['y'] } }),
      0,
    ],
    [
      'counts nothing that moves to a unit with the same content',
      rendered({ a: { web: ['x'], db: ['y'] } }),
      rendered({ a: { db: ['y'] } }),
      1,
    ],
    [
      'counts nothing of a cluster that a commit does not name',
      rendered({ a: { web: ['x'] } }),
      rendered({ b: { web: [] } }),
      0,
    ],
    [
      'counts the objects of each cluster',
      rendered({ a: { web: ['x'] }, b: { web: ['x'] } }),
      rendered({ a: { web: [] }, b: { web: [] } }),
      2,
    ],
  ])('%s', async (_, before, after, expected) => {
    expect(await countDeletes(before, after)).toBe(expected);
  });

  it('lets other work go on while it counts', async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    const running = { count: true };
    const count = countDeletes(rendered({ a: { web: names } }), rendered({ a: { web: [] } })).finally(() => {
      running.count = false;
    });
    let turns = 0;
    for (; running.count; turns += 1) await setImmediate();
    expect(await count).toBe(20_000);
    expect(turns).toBeGreaterThan(3);
  });
});

describe('countChanges', () => {
  const web = (...names: readonly string[]): Rendered => rendered({ a: { web: names } });
  it.each<[name: string, before: Rendered | undefined, after: Rendered, expected: [number, number, number]]>([
    ['what is new in an empty cluster', undefined, web('x', 'y'), [2, 0, 0]],
    ['what is removed and added', web('x', 'y', 'z'), web('y', 'n'), [1, 0, 2]],
    [
      'no object that only moves to another unit',
      web('x', 'y'),
      rendered({ a: { web: ['x'], db: ['y'] } }),
      [0, 0, 0],
    ],
    ['what has other content under the same name', web('x', 'y'), edited(web('x', 'y')), [0, 2, 0]],
    ['nothing without a change', web('x'), web('x'), [0, 0, 0]],
  ])('FST-2 counts the changes of a cluster: %s', async (_, before, after, [creates, updates, deletes]) => {
    const [target] = after.targets;
    if (!target) throw new Error('expected a target');
    expect(await countChanges(before?.targets[0], target)).toEqual({ creates, updates, deletes });
  });
});

/** The same objects with other content. */
function edited({ commit, targets }: Rendered): Rendered {
  return {
    commit,
    targets: targets.map((target) => ({
      ...target,
      units: target.units.map(({ unit, objects }) => ({
        unit,
        digest: 'edited',
        objects: objects.map(({ object, source }) => ({ object: { ...object, data: { a: 'b' } }, source })),
      })),
    })),
  };
}
