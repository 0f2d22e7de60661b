import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../src/api/generated/types.ts';
import { createTiles, untilChange } from '../../../src/console/feeds/cluster-feed.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import { machine } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

type Phase = NonNullable<NonNullable<Machine['status']>['phase']>;

const storeOf = (): WritableStore<Machine> => createStore<Machine>({ log: memoryLog() });

/** An object of a later version is a change. */
function machineAt(version: number, name: string, phase: Phase): Machine {
  return machine(name, { metadata: { resourceVersion: String(version) }, status: { phase } });
}

describe('createTiles', () => {
  it('keeps the rows until a machine changes, and then the tiles of all others', () => {
    const store = storeOf();
    const tiles = createTiles('prod', store);
    store.replace([machineAt(1, 'm-1', 'Ready'), machineAt(2, 'm-2', 'Ready')]);
    const before = tiles();
    expect(tiles()).toBe(before);
    store.put(machineAt(3, 'm-2', 'Stalled'));
    const after = tiles();
    expect(after['prod/m-1']).toBe(before['prod/m-1']);
    expect(after['prod/m-2']).toMatchObject({ p: 'Stalled' });
  });

  it('equals tiles from scratch after any sequence of changes', () => {
    const anyName = fc.nat(5).map((index) => `m-${index}`);
    const anyPhase = fc.constantFrom<Phase[]>('Ready', 'Updating', 'Stalled');
    const anyPhases = fc.dictionary(anyName, anyPhase, { maxKeys: 3 });
    const anyChange = fc.record({
      act: fc.constantFrom('put' as const, 'remove' as const, 'replace' as const),
      phases: anyPhases,
    });
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 20 }), (changes) => {
        const store = storeOf();
        const tiles = createTiles('prod', store);
        for (const [index, { act, phases }] of changes.entries()) {
          const version = index + 1;
          const machines = Object.entries(phases).map(([name, phase]) => machineAt(version, name, phase));
          if (act === 'replace') store.replace(machines, String(version));
          else for (const each of machines) store[act](each);
          expect(tiles()).toEqual(createTiles('prod', store)());
        }
      }),
    );
  });
});

describe('untilChange', () => {
  it('S36 computes again when the version changes: what is closed changes with the time', () => {
    let [minute, computed] = [0, 0];
    const current = untilChange(
      [{ store: storeOf() }],
      () => (computed += 1),
      () => minute,
    );
    expect([current(), current()]).toEqual([1, 1]);
    minute = 1;
    expect([current(), current()]).toEqual([2, 2]);
  });

  it('computes again only after a change in one of the views', () => {
    const views = [{ store: storeOf() }, { store: storeOf() }];
    let computed = 0;
    const current = untilChange(views, () => {
      computed += 1;
      return views.map(({ store }) => store.list().length);
    });
    expect([current(), current(), computed]).toEqual([[0, 0], [0, 0], 1]);
    views[1]?.store.put(machineAt(1, 'm-1', 'Ready'));
    expect([current(), current(), computed]).toEqual([[0, 1], [0, 1], 2]);
    views[1]?.store.put(machineAt(2, 'm-1', 'Stalled'));
    expect([current(), computed]).toEqual([[0, 1], 3]);
    views[1]?.store.remove(machineAt(3, 'm-1', 'Stalled'));
    expect([current(), computed]).toEqual([[0, 0], 4]);
  });
});
