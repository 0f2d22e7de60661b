import { describe, expect, it } from 'vitest';
import { createStore } from '../../../src/kube/cache/store.ts';
import { createPeerSigns } from '../../../src/rules/live/peer-signs.ts';
import { machine } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

function viewOf(...objects: readonly ReturnType<typeof machine>[]): never {
  const store = createStore({ log: memoryLog() });
  for (const object of objects) store.put(object);
  return { store, reflector: { freshness: () => ({ synced: true, ageMs: 0 }) } } as never;
}

describe('createPeerSigns', () => {
  it('R20 judges by the last sign of life of machines near it', () => {
    const machines = ['m-1', 'm-2', 'm-3', 'm-4'].map((name) => machine(name, { spec: { zone: 'a' } }));
    const signs = createPeerSigns({ machines: viewOf(...machines), nodes: viewOf() });
    const read = (...ages: number[]): string =>
      signs.read('m-1', (name) => ages[Number(name.slice(2)) - 2] ?? 0, 0);
    expect(read(0, 0, 60_000)).toBe('Alive');
    expect(read(0, 60_000, 60_000)).toBe('Silent');
    expect(read(0, Infinity, Infinity)).toBe('Unknown');
    expect(read(45_000, 45_001, Infinity)).toBe('Unknown');
  });

  it('R20 keeps its peers for five minutes, and then chooses among the machines of that time', () => {
    const store = createStore({ log: memoryLog() });
    for (const name of ['m-1', 'm-2', 'm-3']) store.put(machine(name));
    const view = { store, reflector: { freshness: () => ({ synced: true, ageMs: 0 }) } } as never;
    const signs = createPeerSigns({ machines: view, nodes: viewOf() });
    const asked = new Set<string>();
    const read = (nowMs: number): string => {
      asked.clear();
      return signs.read('m-1', (name) => Number(!asked.add(name)), nowMs);
    };
    expect([read(0), [...asked].toSorted()]).toEqual(['Alive', ['m-2', 'm-3']]);
    store.put(machine('m-4'));
    read(299_999);
    expect(asked.size).toBe(2);
    read(300_000);
    expect(asked.size).toBe(3);
  });
});
