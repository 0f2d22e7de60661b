/** What the controllers of a process see: one reflector and one store for each kind, shared by all of them. */
import type { KubeObject } from '../objects/object.ts';
import { createReflector, type Reflector, type ReflectorOptions } from './reflector.ts';
import { createStore, type Store, type StoreOptions } from './store.ts';

export interface View<T extends KubeObject = KubeObject> {
  readonly store: Store<T>;
  readonly reflector: Reflector;
}

export type ViewOptions<T extends KubeObject> = Omit<ReflectorOptions<T>, 'store'> & StoreOptions<T>;

export function viewOf<T extends KubeObject = KubeObject>(options: ViewOptions<T>): View<T> {
  const { log, indexers } = options;
  const objects = createStore<T>({ log, ...(indexers ? { indexers } : {}) });
  return { store: objects, reflector: createReflector<T>({ ...options, store: objects }) };
}

/** The part that tells whether it can be believed. */
export type Seen = Pick<Reflector, 'freshness'>;

/** Why nobody may act on this view; undefined when they may. */
export function objectionTo({ freshness }: Seen, maxAgeMs: number): string | undefined {
  const { synced, ageMs, error } = freshness();
  const why = error ? `: ${error.message}` : '';
  if (!synced) return `no whole list yet${why}`;
  if (ageMs <= maxAgeMs) return undefined;
  return `nothing heard for ${Math.round(ageMs / 1000)} s${why}`;
}
