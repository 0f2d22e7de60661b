import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectKey } from '../../../../src/kube/objects/object-id.ts';
import {
  chunksWithAdditions,
  chunksWithRemovals,
  type InventoryChunk,
  mergeChunks,
} from '../../../../src/sync/apply/inventory/chunks.ts';
import type { InventoryEntry } from '../../../../src/sync/apply/inventory/inventory.ts';
import { configMap, entry } from '../fixtures.ts';

function save(chunks: readonly InventoryChunk[], changed: readonly InventoryChunk[]): InventoryChunk[] {
  const byName = new Map([...chunks, ...changed].map((chunk) => [chunk.name, chunk]));
  return [...byName.values()];
}

function add(chunks: readonly InventoryChunk[], ...entries: InventoryEntry[]): InventoryChunk[] {
  return save(chunks, chunksWithAdditions(chunks, entries));
}

const names = (chunks: readonly InventoryChunk[]): string[] => chunks.map(({ name }) => name);
const large = (name: string): InventoryEntry => entry(configMap(name), { commit: 'x'.repeat(70_000) });

describe('chunksWithAdditions', () => {
  it('puts the entries of each unit into ConfigMaps of their own', () => {
    const chunks = add([], entry(configMap('a')), entry(configMap('b'), { unit: 'app' }));
    expect(names(chunks)).toEqual(['inventory-web-0', 'inventory-app-0']);
    expect(chunks.map(({ unit }) => unit)).toEqual(['web', 'app']);
  });

  it('starts another ConfigMap when one is full', () => {
    const chunks = add([], large('a'), large('b'), large('c'));
    expect(names(chunks)).toEqual(['inventory-web-0', 'inventory-web-1']);
  });

  it('fills the room that is left in the first ConfigMap before it starts another one', () => {
    const chunks = add([], large('a'), large('b'), large('c'));
    const [first] = add(chunks, entry(configMap('d')), large('e'), large('f'));
    expect([...(first?.entries.values() ?? [])].map(({ name }) => name)).toEqual(['a', 'b', 'd']);
    expect(names(add(chunks, large('e'), large('f')))).toEqual([
      'inventory-web-0',
      'inventory-web-1',
      'inventory-web-2',
    ]);
  });

  it('changes nothing without additions', () => {
    expect(chunksWithAdditions(add([], entry(configMap('a'))), [])).toEqual([]);
  });

  it('keeps an entry in its ConfigMap when it changes', () => {
    const chunks = add([], large('a'), large('b'), large('c'));
    const changed = chunksWithAdditions(chunks, [{ ...large('c'), applied: 'sha256:new' }]);
    expect(names(changed)).toEqual(['inventory-web-1']);
  });

  it('changes only the ConfigMaps of the added entries', () => {
    const chunks = add([], entry(configMap('a')), entry(configMap('b'), { unit: 'app' }));
    expect(names(chunksWithAdditions(chunks, [entry(configMap('c'))]))).toEqual(['inventory-web-0']);
  });
});

describe('chunksWithRemovals', () => {
  it('removes deleted entries, and moved entries from the ConfigMap of the old unit', () => {
    const [a, b, c] = [entry(configMap('a')), entry(configMap('b')), entry(configMap('c'))];
    const moved = { ...b, unit: 'app', from: 'web' };
    const chunks = add(add([], a, b, c), moved);
    const changed = chunksWithRemovals(chunks, new Set([objectKey(a)]), [moved]);
    expect(changed.map(({ name, entries }) => [name, [...entries.keys()]])).toEqual([
      ['inventory-web-0', [objectKey(c)]],
    ]);
  });

  it('changes nothing without removals', () => {
    expect(chunksWithRemovals(add([], entry(configMap('a'))), new Set(), [])).toEqual([]);
  });
});

describe('mergeChunks', () => {
  it('S5 takes the unconfirmed entry of an object that is moving', () => {
    const confirmed = entry(configMap('a'));
    const { applied: _, ...intended } = { ...confirmed, unit: 'app', from: 'web' };
    const chunks = add(add([], confirmed), intended);
    expect([...mergeChunks(chunks).values()]).toEqual([intended]);
    expect([...mergeChunks(chunks.toReversed()).values()]).toEqual([intended]);
  });

  it('S1 finds every entry after any prefix of the writes of a change', () => {
    const name = fc.integer({ min: 0, max: 12 }).map((index) => `c${index}`);
    const unit = fc.constantFrom('web', 'app');
    // An object is declared once in a commit.
    const commit = fc.uniqueArray(fc.record({ name, unit }), { maxLength: 6, selector: (each) => each.name });
    fc.assert(
      fc.property(fc.array(commit, { maxLength: 6 }), (commits) => {
        let chunks: InventoryChunk[] = [];
        const expected = new Set<string>();
        for (const changes of commits) {
          const added = changes.map((each) => entry(configMap(each.name), { unit: each.unit }));
          const writes = chunksWithAdditions(chunks, added);
          for (const write of writes) {
            chunks = save(chunks, [write]);
            for (const key of expected) expect(mergeChunks(chunks).has(key)).toBe(true);
          }
          for (const item of added) expected.add(objectKey(item));
          for (const write of chunksWithRemovals(chunks, new Set(), added)) {
            chunks = save(chunks, [write]);
            for (const key of expected) expect(mergeChunks(chunks).has(key)).toBe(true);
          }
        }
      }),
    );
  });
});
