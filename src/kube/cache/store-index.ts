/** Indexes of objects by computed values: Machines by zone, Pods by node. */
import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';

/** The values under which an object is found in each index; none when it is not part of the index. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

export interface StoreIndexes<T> {
  get(index: string, value: string): readonly T[];
  change(before: T | undefined, after: T | undefined): void;
  rebuild(objects: readonly T[]): void;
}

type Index<T> = Map<string, Set<T>>;

export function createStoreIndexes<T extends KubeObject>(indexers: Indexers<T>, log: Log): StoreIndexes<T> {
  const indexes = new Map<string, Index<T>>(Object.keys(indexers).map((name) => [name, new Map()]));

  return {
    get: (name, value) => {
      const index = indexes.get(name);
      if (!index) throw new Error(`the store has no index ${name}`);
      return [...(index.get(value) ?? [])];
    },
    change: (before, after) => {
      for (const [name, index] of indexes) {
        if (before) for (const value of valuesOf(name, before)) removeFrom(index, value, before);
        if (after) for (const value of valuesOf(name, after)) addTo(index, value, after);
      }
    },
    rebuild: (objects) => {
      for (const [name, index] of indexes) {
        index.clear();
        for (const object of objects) for (const value of valuesOf(name, object)) addTo(index, value, object);
      }
    },
  };

  /** An object on which the indexer throws gets no values; it stays in the store. */
  function valuesOf(name: string, object: T): readonly string[] {
    try {
      return indexers[name]?.(object) ?? [];
    } catch (error) {
      log.error('indexer failed', { index: name, kind: object.kind, object: object.metadata.name, error });
      return [];
    }
  }
}

function addTo<T>(index: Index<T>, value: string, object: T): void {
  const objects = index.get(value);
  if (objects) objects.add(object);
  else index.set(value, new Set([object]));
}

function removeFrom<T>(index: Index<T>, value: string, object: T): void {
  const objects = index.get(value);
  objects?.delete(object);
  if (objects?.size === 0) index.delete(value);
}
