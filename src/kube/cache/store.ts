/**
 * The cached objects of one kind. Objects are shared between readers and never changed in place: a reader that wants
 * to change one makes a copy.
 */
import type { KubeObject, ObjectName } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { createStoreIndexes, type Indexers } from './store-index.ts';

/** For readers. */
export interface Store<T extends KubeObject = KubeObject> {
  /** By name, or by its `storeKey`. */
  get(name: ObjectName | string): T | undefined;
  /** All objects, in no particular order. */
  list(): readonly T[];
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
  /** False until the initial list is complete. Until then, a missing object means nothing. */
  hasSynced(): boolean;
  /** Calls the handler for every present object now, and for every later change. Returns the function that unsubscribes. */
  subscribe(handler: StoreHandler<T>): () => void;
}

/** Called in the order of changes, after the store has changed. An error in one handler does not affect the others. */
export interface StoreHandler<T extends KubeObject = KubeObject> {
  added?(object: T): void;
  updated?(object: T, before: T): void;
  /** `last` is the last known state; `missed` when the deletion itself was not observed, so that it may be outdated. */
  removed?(last: T, missed: boolean): void;
}

/** For the reflector, and for the answers to our own writes. */
export interface WritableStore<T extends KubeObject = KubeObject> extends Store<T> {
  put(object: T): void;
  remove(object: KubeObject): void;
  /** Replaces all objects by a complete list in one step, except those newer than `version`, the list's own. */
  replace(objects: readonly T[], version?: string): void;
  /**
   * The answer to a write. Ignored when the watch is ahead of it: the object may have been deleted since, and no later event
   * would correct that.
   */
  wrote(object: T): void;
  /** The server answered that this object is deleted. */
  deleted(object: KubeObject): void;
}

export interface StoreOptions<T extends KubeObject> {
  readonly log: Log;
  readonly indexers?: Indexers<T>;
}

export function storeKey({ name, namespace }: ObjectName): string {
  return namespace ? `${namespace}/${name}` : name;
}

export function createStore<T extends KubeObject = KubeObject>({
  log,
  indexers,
}: StoreOptions<T>): WritableStore<T> {
  const indexes = createStoreIndexes<T>(indexers ?? {}, log);
  const handlers = new Set<StoreHandler<T>>();
  let objects = new Map<string, T>();
  let synced = false;
  /** The newest version that the reflector stored: everything up to it is known. */
  let observed: string | undefined;

  return {
    get: (name) => objects.get(typeof name === 'string' ? name : storeKey(name)),
    list: () => [...objects.values()],
    byIndex: (index, value) => indexes.get(index, value),
    get size() {
      return objects.size;
    },
    hasSynced: () => synced,
    subscribe,
    put(object) {
      observe(object);
      store(object);
    },
    remove(object) {
      observe(object);
      drop(object);
    },
    replace,
    wrote(object) {
      if (!isIncluded(object, observed)) store(object);
    },
    deleted: drop,
  };

  function subscribe(handler: StoreHandler<T>): () => void {
    handlers.add(handler);
    for (const object of objects.values()) notify(handler, addition(object));
    return () => void handlers.delete(handler);
  }

  function store(object: T): void {
    const key = storeKey(object.metadata);
    const before = objects.get(key);
    // An outdated event: a list or another server's watch was ahead of it.
    if (before && isOlder(object, before)) return;
    objects.set(key, object);
    indexes.change(before, object);
    notifyAll(changesBetween(before, object));
  }

  function drop(object: KubeObject): void {
    const key = storeKey(object.metadata);
    const before = objects.get(key);
    if (!before || isOlder(object, before)) return;
    objects.delete(key);
    indexes.change(before, undefined);
    notifyAll([removal(before, false)]);
  }

  function replace(list: readonly T[], version?: string): void {
    const previous = objects;
    observed = version;
    objects = new Map(list.map((object) => [storeKey(object.metadata), object]));
    // Our own writes are stored from their answers, and may be newer than a list that began before them.
    for (const [key, object] of previous) if (isNewerThan(version, object)) objects.set(key, object);
    indexes.rebuild([...objects.values()]);
    synced = true;
    const missing = [...previous].filter(([key]) => !objects.has(key));
    notifyAll(missing.map(([, last]) => removal(last, true)));
    for (const [key, object] of objects) notifyAll(changesBetween(previous.get(key), object));
  }

  function observe({ metadata: { resourceVersion } }: KubeObject): void {
    if (!isOlderVersion(resourceVersion, observed)) observed = resourceVersion;
  }

  function notifyAll(changes: readonly Change<T>[]): void {
    for (const change of changes) for (const handler of handlers) notify(handler, change);
  }

  function notify(handler: StoreHandler<T>, { about, call }: Change<T>): void {
    try {
      call(handler);
    } catch (error) {
      log.error('handler failed', { kind: about.kind, object: storeKey(about.metadata), error });
    }
  }
}

interface Change<T extends KubeObject> {
  readonly about: T;
  readonly call: (handler: StoreHandler<T>) => void;
}

function addition<T extends KubeObject>(object: T): Change<T> {
  return { about: object, call: (handler) => handler.added?.(object) };
}

function update<T extends KubeObject>(object: T, before: T): Change<T> {
  return { about: object, call: (handler) => handler.updated?.(object, before) };
}

function removal<T extends KubeObject>(last: T, missed: boolean): Change<T> {
  return { about: last, call: (handler) => handler.removed?.(last, missed) };
}

/** A recreated object is a removal and an addition, even when only one event was observed. */
function changesBetween<T extends KubeObject>(before: T | undefined, object: T): Change<T>[] {
  if (!before) return [addition(object)];
  if (before === object) return [];
  if (before.metadata.uid !== object.metadata.uid) return [removal(before, true), addition(object)];
  return before.metadata.resourceVersion === object.metadata.resourceVersion ? [] : [update(object, before)];
}

/** The object was written after this version of the server. */
export function isNewerThan(version: string | undefined, { metadata }: KubeObject): boolean {
  return isOlderVersion(version, metadata.resourceVersion);
}

/** The object was written before this version of the server, or by the write that made it. */
function isIncluded({ metadata: { resourceVersion } }: KubeObject, version: string | undefined): boolean {
  return version !== undefined && (resourceVersion === version || isOlderVersion(resourceVersion, version));
}

function isOlder(a: KubeObject, b: KubeObject): boolean {
  return isOlderVersion(a.metadata.resourceVersion, b.metadata.resourceVersion);
}

/**
 * Resource versions from etcd are numbers that increase across all objects of a server. Those of aggregated servers
 * may not be comparable: then neither is older.
 */
export function isOlderVersion(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !DECIMAL.test(a) || !DECIMAL.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}

const DECIMAL = /^(0|[1-9]\d*)$/;
