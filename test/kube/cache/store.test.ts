import { describe, expect, it } from 'vitest';
import { createStore, isOlderVersion, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';

interface Thing extends KubeObject {
  readonly zone?: string;
}

/** `a@5` is the thing a at version 5; `a@5!2` after it was recreated; `ns/a@5` in a namespace. */
function thing(text: string, zone?: string): Thing {
  const [, namespace, name = '', resourceVersion = '1', incarnation = '1'] =
    /^(?:(\w+)\/)?(\w+)@(\d+)(?:!(\d+))?$/.exec(text) ?? [];
  const metadata = {
    name,
    uid: `${name}-${incarnation}`,
    resourceVersion,
    ...(namespace ? { namespace } : {}),
  };
  return { apiVersion: 'v1', kind: 'Thing', metadata, ...(zone ? { zone } : {}) };
}

function createTestStore(): {
  readonly things: WritableStore<Thing>;
  readonly changes: string[];
  readonly log: ReturnType<typeof memoryLog>;
} {
  const log = memoryLog();
  const things = createStore<Thing>({ log, indexers: { zone: ({ zone }) => (zone ? zone.split('+') : []) } });
  const changes: string[] = [];
  listen(things, changes);
  return { things, changes, log };
}

function listen(things: WritableStore<Thing>, changes: string[]): () => void {
  const show = ({ metadata: { name, resourceVersion } }: Thing): string => `${name}@${resourceVersion}`;
  return things.subscribe({
    added: (object) => changes.push(`+${show(object)}`),
    updated: (object, before) => changes.push(`${show(before)}~${show(object)}`),
    removed: (last, missed) => changes.push(`${missed ? '?' : '-'}${show(last)}`),
  });
}

describe('createStore', () => {
  it('keeps objects that are newer than a list, such as our own writes', () => {
    const { things, changes } = createTestStore();
    things.replace([thing('a@1'), thing('b@2')], '2');
    things.wrote(thing('a@7'));
    things.wrote(thing('c@8'));
    changes.length = 0;
    things.replace([thing('a@1'), thing('b@2')], '5');
    expect(
      things
        .list()
        .map(({ metadata }) => metadata.name + metadata.resourceVersion)
        .toSorted(),
    ).toEqual(['a7', 'b2', 'c8']);
    expect(changes).toEqual([]);
    things.replace([thing('b@2')], '9');
    expect(changes).toEqual(['?a@7', '?c@8']);
  });

  it.each<[order: string, act: (things: WritableStore<Thing>) => void]>([
    ['the event of its deletion', (things) => things.remove(thing('a@7'))],
    ['a list without it', (things) => things.replace([], '7')],
    ['a later event of another object', (things) => things.put(thing('b@7'))],
  ])('never brings a deleted object back when the answer to a write arrives after %s', (_, act) => {
    const { things } = createTestStore();
    things.replace([thing('a@1')], '1');
    things.remove(thing('a@2'));
    act(things);
    things.wrote(thing('a@6'));
    expect(things.get('a')).toBeUndefined();
    things.wrote(thing('a@8'));
    expect(things.get('a')?.metadata.resourceVersion).toBe('8');
  });

  it('takes an answer that the watch has not reached, also after an earlier deletion, and before the first list', () => {
    const { things } = createTestStore();
    things.wrote(thing('a@3'));
    expect(things.size).toBe(1);
    things.replace([thing('a@3')], '4');
    things.wrote(thing('a@9'));
    things.deleted(thing('a@9'));
    things.wrote(thing('b@8'));
    expect([things.get('a'), things.get('b')?.metadata.resourceVersion]).toEqual([undefined, '8']);
  });

  it('knows what it observed once, also after an outdated event of another server', () => {
    const { things } = createTestStore();
    things.replace([], '9');
    things.put(thing('b@4'));
    things.wrote(thing('a@7'));
    expect(things.get('a')).toBeUndefined();
  });

  it('takes an answer without a version, from a server that gives none', () => {
    const { things } = createTestStore();
    const { resourceVersion: _, ...metadata } = thing('a@1').metadata;
    things.wrote({ ...thing('a@1'), metadata });
    expect(things.size).toBe(1);
  });

  it('notifies of added, updated and removed objects, with their previous state', () => {
    const { things, changes } = createTestStore();
    things.put(thing('a@1'));
    things.put(thing('a@2'));
    things.remove(thing('a@3'));
    expect(changes).toEqual(['+a@1', 'a@1~a@2', '-a@2']);
    expect(things.size).toBe(0);
  });

  it('finds objects by name and by key', () => {
    const { things } = createTestStore();
    things.put(thing('x/a@1'));
    things.put(thing('a@2'));
    expect(things.get({ name: 'a', namespace: 'x' })?.metadata.resourceVersion).toBe('1');
    expect(things.get('x/a')?.metadata.resourceVersion).toBe('1');
    expect(things.get({ name: 'a' })?.metadata.resourceVersion).toBe('2');
    expect(things.get('x/b')).toBeUndefined();
    expect(things.list()).toHaveLength(2);
  });

  it('replaces all objects in one step, before the first handler is called', () => {
    const { things } = createTestStore();
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

  it('notifies only of the differences of a list', () => {
    const { things, changes } = createTestStore();
    things.replace([thing('a@1'), thing('b@2'), thing('c@3')]);
    changes.length = 0;
    things.replace([thing('b@2'), thing('c@7'), thing('d@8')]);
    expect(changes).toEqual(['?a@1', 'c@3~c@7', '+d@8']);
  });

  it('is synced by the first complete list, even an empty one, and by nothing else', () => {
    const { things } = createTestStore();
    things.put(thing('a@1'));
    expect(things.hasSynced()).toBe(false);
    things.replace([]);
    expect(things.hasSynced()).toBe(true);
  });

  it('treats a recreated object as another object', () => {
    const { things, changes } = createTestStore();
    things.put(thing('a@1'));
    things.put(thing('a@5!2'));
    things.replace([thing('a@9!3')]);
    expect(changes).toEqual(['+a@1', '?a@1', '+a@5', '?a@5', '+a@9']);
  });

  it('ignores an event that is older than its object', () => {
    const { things, changes } = createTestStore();
    things.put(thing('a@10'));
    things.put(thing('a@9'));
    things.remove(thing('a@9'));
    expect(changes).toEqual(['+a@10']);
  });

  it('ignores the deletion of an unknown object', () => {
    const { things, changes } = createTestStore();
    things.remove(thing('a@1'));
    expect(changes).toEqual([]);
  });

  it('notifies a new handler of present objects, and an unsubscribed one of nothing', () => {
    const { things } = createTestStore();
    things.put(thing('a@1'));
    const late: string[] = [];
    const stop = listen(things, late);
    things.put(thing('b@2'));
    stop();
    things.put(thing('c@3'));
    expect(late).toEqual(['+a@1', '+b@2']);
  });

  it('isolates handlers: an error in one does not affect others, and is logged', () => {
    const { things, log } = createTestStore();
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
