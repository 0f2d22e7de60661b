/** Objects by values that are computed from them: Machines by zone, Pods by node. */

import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';

/** Under which values an object is found; none for an object that the index does not concern. */
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
        if (before) for (const value of valuesOf(name, before)) takeOut(index, value, before);
        if (after) for (const value of valuesOf(name, after)) putIn(index, value, after);
      }
    },
    rebuild: (objects) => {
      for (const [name, index] of indexes) {
        index.clear();
        for (const object of objects) for (const value of valuesOf(name, object)) putIn(index, value, object);
      }
    },
  };

  /** An object that the indexer cannot read is under no value of it; it stays in the store. */
  function valuesOf(name: string, object: T): readonly string[] {
    try {
      return indexers[name]?.(object) ?? [];
    } catch (error) {
      log.error('indexer failed', { index: name, kind: object.kind, object: object.metadata.name, error });
      return [];
    }
  }
}

function putIn<T>(index: Index<T>, value: string, object: T): void {
  const objects = index.get(value);
  if (objects) objects.add(object);
  else index.set(value, new Set([object]));
}

function takeOut<T>(index: Index<T>, value: string, object: T): void {
  const objects = index.get(value);
  objects?.delete(object);
  if (objects?.size === 0) index.delete(value);
}
