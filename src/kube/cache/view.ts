/** Holds what the controllers of a process observe of one kind: one store, kept current by one reflector, shared by all of them. */
import type { KubeObject, Metadata, Resource } from '../objects/object.ts';
import { optional } from '../objects/optional.ts';
import { createReflector, type Reflector, type ReflectorOptions } from './reflector.ts';
import { createStore, type Store, type StoreOptions } from './store.ts';
import { createTransform } from './trim.ts';

export interface View<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  /** The only namespace that is read. Undefined: all of them, or the kind has none. */
  readonly namespace?: string;
  readonly store: Store<T>;
  readonly reflector: Reflector;
  /** Stores what the server answered to a write, so that readers see it before the watch delivers it. Returns it as stored. */
  wrote(answer: KubeObject): T;
  /** Removes an object from the store, because the server answered that it is deleted. */
  deleted(object: KubeObject): void;
}

export interface ViewOptions<T extends KubeObject>
  extends Omit<ReflectorOptions<T>, 'store' | 'resource'>,
    StoreOptions<T> {
  readonly resource: Resource<T>;
  /** The field managers whose managedFields are kept, so that their unchanged applies can be skipped. */
  readonly managers?: readonly string[];
}

export function createView<T extends KubeObject = KubeObject>(options: ViewOptions<T>): View<T> {
  const { resource, log, indexers, managers } = options;
  const transform = options.transform ?? createTransform<T>([], managers);
  const store = createStore<T>({ log, ...(indexers ? { indexers } : {}) });
  return {
    resource,
    ...optional('namespace', options.namespace),
    store,
    reflector: createReflector<T>({ ...options, transform, store }),
    wrote: (answer) => {
      const object = transform(answer);
      if (store.hasSynced() && isSelected(object.metadata)) store.wrote(object);
      return object;
    },
    deleted: (object) => store.deleted(object),
  };

  /**
   * Tells whether an answer to a write is stored. Only the server decides whether a selector selects an object: with a selector, only
   * objects that it selected before are stored.
   */
  function isSelected(metadata: Metadata): boolean {
    const { namespace, labelSelector, fieldSelector } = options;
    if (namespace !== undefined && metadata.namespace !== namespace) return false;
    return (labelSelector === undefined && fieldSelector === undefined) || store.get(metadata) !== undefined;
  }
}
