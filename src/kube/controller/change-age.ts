/**
 * How long since an object, or a part of it, last changed: by our own monotonic clock, because timestamps in objects are
 * written by other machines. Counted up to the last contact with the server: while the server does not answer, no age grows.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../os/clock.ts';
import { storeKey } from '../cache/store.ts';
import type { View } from '../cache/view.ts';
import type { KubeObject } from '../objects/object.ts';

export interface ChangeAge {
  /** A lower bound: an object that we did not watch counts from when we first observed it. Undefined for an object that is not found. */
  ageMs(key: string): number | undefined;
  close(): void;
}

/** Without `part` every write counts, heartbeats too. */
export function trackChangeAge<T extends KubeObject>(
  view: Pick<View<T>, 'store' | 'reflector'>,
  clock: Pick<Clock, 'monotonicMs'>,
  part?: (object: T) => unknown,
): ChangeAge {
  const changedMs = new Map<string, number>();
  const mark = (object: T): void => void changedMs.set(storeKey(object.metadata), clock.monotonicMs());
  const close = view.store.subscribe({
    added: mark,
    updated: (object, before) => {
      if (!part || !isDeepStrictEqual(part(object), part(before))) mark(object);
    },
    removed: ({ metadata }) => void changedMs.delete(storeKey(metadata)),
  });
  return {
    close,
    ageMs: (key) => {
      const sinceMs = changedMs.get(key);
      if (sinceMs === undefined) return undefined;
      const { ageMs: silentMs } = view.reflector.freshness();
      return Math.max(0, clock.monotonicMs() - silentMs - sinceMs);
    },
  };
}
