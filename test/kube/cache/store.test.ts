import { describe, expect, it } from 'vitest';
import { createStore, isOlderVersion, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';

interface Thing extends KubeObject {
  readonly zone?: string;
}

/** `a@5` is the thing a at version 5; `a@5!2` its second life; `ns/a@5` one in a namespace. */
function thing(text: string, zone?: string): Thing {
  const [, namespace, name = '', resourceVersion = '1', life = '1'] =
    /^(?:(\w+)\/)?(\w+)@(\d+)(?:!(\d+))?$/.exec(text) ?? [];
  const metadata = { name, uid: `${name}-${life}`, resourceVersion, ...(namespace ? { namespace } : {}) };
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...(zone ? { zone } : {}) };
}

function bed(): {
  readonly things: WritableStore<Thing>;
  readonly told: string[];
  readonly log: ReturnType<typeof memoryLog>;
} {
  const log = memoryLog();
  const things = createStore<Thing>({ log, indexers: { zone: ({ zone }) => (zone ? zone.split('+') : []) } });
  const told: string[] = [];
  listen(things, told);
  return { things, told, log };
}

function listen(things: WritableStore<Thing>, told: string[]): () => void {
  const show = ({ metadata: { name, resourceVersion } }: Thing): string => `${name}@${resourceVersion}`;
  return things.subscribe({
    added: (object) => told.push(`+${show(object)}`),
    updated: (object, before) => told.push(`${show(before)}~${show(object)}`),
    removed: (last, missed) => told.push(`${missed ? '?' : '-'}${show(last)}`),
  });
}

describe('createStore', () => {
  it('keeps what is newer than a list: our own write, whose answer overtook it', () => {
    const { things, told } = bed();
    things.replace([thing('a@1'), thing('b@2')], '2');
    things.put(thing('a@7'));
    things.put(thing('c@8'));
    told.length = 0;
    things.replace([thing('a@1'), thing('b@2')], '5');
    expect(
      things
        .list()
        .map(({ metadata }) => metadata.name + metadata.resourceVersion)
        .toSorted(),
    ).toEqual(['a7', 'b2', 'c8']);
    expect(told).toEqual([]);
    things.replace([thing('b@2')], '9');
    expect(told).toEqual(['?a@7', '?c@8']);
  });

  it('tells of what is added, updated and removed, with what was there before', () => {
    const { things, told } = bed();
    things.put(thing('a@1'));
    things.put(thing('a@2'));
    things.remove(thing('a@3'));
    expect(told).toEqual(['+a@1', 'a@1~a@2', '-a@2']);
    expect(things.size).toBe(0);
  });

  it('finds by name and by key', () => {
    const { things } = bed();
    things.put(thing('x/a@1'));
    things.put(thing('a@2'));
    expect(things.get({ name: 'a', namespace: 'x' })?.metadata.resourceVersion).toBe('1');
    expect(things.get('x/a')?.metadata.resourceVersion).toBe('1');
    expect(things.get({ name: 'a' })?.metadata.resourceVersion).toBe('2');
    expect(things.get('x/b')).toBeUndefined();
    expect(things.list()).toHaveLength(2);
  });

  it('takes a whole list in one step: handlers see the new world from the first change on', () => {
    const { things } = bed();
    things.replace([thing('a@1'), thing('b@2')]);
    const sizes: number[] = [];
    things.subscribe({
      added: () => sizes.push(things.size),
      updated: () => sizes.push(things.size),
      removed: () => sizes.push(things.size),
    });
    sizes.length = 0;
    things.replace([thing('b@3'), thing('c@4'), thing('d@5')]);
    expect(sizes).toEqual([3, 3, 3, 3]);
  });

  it('tells of a list only what is different', () => {
    const { things, told } = bed();
    things.replace([thing('a@1'), thing('b@2'), thing('c@3')]);
    told.length = 0;
    things.replace([thing('b@2'), thing('c@7'), thing('d@8')]);
    expect(told).toEqual(['?a@1', 'c@3~c@7', '+d@8']);
  });

  it('is synced by the first whole list, an empty one too, and by nothing else', () => {
    const { things } = bed();
    things.put(thing('a@1'));
    expect(things.hasSynced()).toBe(false);
    things.replace([]);
    expect(things.hasSynced()).toBe(true);
  });

  it('takes a second life under one name for another object', () => {
    const { things, told } = bed();
    things.put(thing('a@1'));
    things.put(thing('a@5!2'));
    things.replace([thing('a@9!3')]);
    expect(told).toEqual(['+a@1', '?a@1', '+a@5', '?a@5', '+a@9']);
  });

  it('does not let an older event undo a newer one', () => {
    const { things, told } = bed();
    things.put(thing('a@10'));
    things.put(thing('a@9'));
    things.remove(thing('a@9'));
    expect(told).toEqual(['+a@10']);
  });

  it('ignores the deletion of what it never had', () => {
    const { things, told } = bed();
    things.remove(thing('a@1'));
    expect(told).toEqual([]);
  });

  it('tells a new handler of what is there, and an old one nothing more', () => {
    const { things } = bed();
    things.put(thing('a@1'));
    const late: string[] = [];
    const stop = listen(things, late);
    things.put(thing('b@2'));
    stop();
    things.put(thing('c@3'));
    expect(late).toEqual(['+a@1', '+b@2']);
  });

  it('keeps handlers apart: one that throws hurts no other, and is named in the log', () => {
    const { things, log } = bed();
    things.subscribe({
      added: () => {
        throw new Error('broken');
      },
    });
    const after: string[] = [];
    listen(things, after);
    things.put(thing('x/a@1'));
    things.put(thing('b@2'));
    expect(after).toEqual(['+a@1', '+b@2']);
    expect(log.lines.map(({ level, message, fields }) => [level, message, fields['object']])).toEqual([
      ['error', 'handler failed', 'x/a'],
      ['error', 'handler failed', 'b'],
    ]);
  });

  describe('indexes', () => {
    it('follow every change', () => {
      const { things } = bed();
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

    it('that cannot read an object leave it in the store', () => {
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

    it('that do not exist are a mistake of the reader', () => {
      expect(() => bed().things.byIndex('colour', 'red')).toThrow('the store has no index colour');
    });
  });
});

describe('isOlderVersion', () => {
  it.each<[a: string | undefined, b: string | undefined, older: boolean]>([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['99999999999999999998', '99999999999999999999', true],
    ['abc', '10', false],
    ['10', 'abc', false],
    ['0', '10', true],
    ['', '10', false],
    [undefined, '10', false],
    ['10', undefined, false],
  ])('%s before %s: %s', (a, b, older) => {
    expect(isOlderVersion(a, b)).toBe(older);
  });
});
