import { describe, expect, it } from 'vitest';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';

interface Thing extends KubeObject {
  readonly zone?: string;
}

describe('createStoreIndexes', () => {
  it('reflect every change', () => {
    const things = createZonedStore();
    const zone = (value: string): string[] =>
      things
        .byIndex('zone', value)
        .map(({ metadata }) => metadata.name)
        .toSorted();
    things.replace([thing('a@1', 'east'), thing('b@2', 'east+west'), thing('c@3')]);
    expect([zone('east'), zone('west'), zone('north')]).toEqual([['a', 'b'], ['b'], []]);
    things.put(thing('a@4', 'west'));
    things.remove(thing('b@5'));
    expect([zone('east'), zone('west')]).toEqual([[], ['a']]);
    things.replace([thing('d@9', 'east')]);
    expect([zone('east'), zone('west')]).toEqual([['d'], []]);
  });

  it('leave an object in the store when the indexer throws', () => {
    const log = memoryLog();
    const things = createStore<Thing>({
      log,
      indexers: {
        zone: ({ metadata }) => {
          throw new Error(`no zone of ${metadata.name}`);
        },
      },
    });
    things.replace([thing('a@1')]);
    expect(things.get('a')).toBeDefined();
    expect(things.byIndex('zone', '')).toEqual([]);
    expect(log.lines[0]).toMatchObject({
      level: 'error',
      message: 'indexer failed',
      fields: { index: 'zone', object: 'a' },
    });
  });

  it('throw when they do not exist', () => {
    expect(() => createZonedStore().byIndex('colour', 'red')).toThrow('the store has no index colour');
  });
});

function createZonedStore(): WritableStore<Thing> {
  return createStore<Thing>({
    log: memoryLog(),
    indexers: { zone: ({ zone }) => (zone ? zone.split('+') : []) },
  });
}

function thing(text: string, zone?: string): Thing {
  const [name = '', resourceVersion = ''] = text.split('@');
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, resourceVersion }, ...(zone ? { zone } : {}) };
}
