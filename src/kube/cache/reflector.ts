/**
 * Keeps a store equal to the server: a paged list, then a watch from where the list ended, for ever. Nothing takes an
 * object out of the store but a whole list or a deletion that the server told: when the server cannot be read, the store
 * grows old, and says how old.
 */

import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import { isKubeError, KubeError, type KubeErrorCode } from '../client/errors.ts';
import { collectionLabel } from '../client/paths.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { backOffAfterError, NO_ERRORS } from '../process/backoff.ts';
import type { Log } from '../process/log.ts';
import { createWatchPosition, followWatch, type ReflectorSource, readList } from './list-watch.ts';
import type { WritableStore } from './store.ts';
import { createTransform, type Transform } from './trim.ts';
import type { Selection } from './verify-missing.ts';

export interface ReflectorOptions<T extends KubeObject = KubeObject> extends Selection {
  readonly client: Pick<Client, 'get' | 'pages' | 'watch'>;
  readonly resource: Resource;
  readonly store: WritableStore<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly transform?: Transform<T>;
  readonly metrics?: { restarted(kind: string, because: string): void };
  /** The server can be read: for the first time, or after an error. What is in the store may be the same as before. */
  readonly recovered?: () => void;
}

export interface Reflector {
  /** Until the signal. Never rejects, and is to be called once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list is in, rejects when the signal comes first. */
  synced(signal?: AbortSignal): Promise<void>;
  freshness(): Freshness;
}

/** How far the store can be believed. */
export interface Freshness {
  readonly synced: boolean;
  /** When the server last told us how things are; undefined before the first list. */
  readonly lastContactAt: Date | undefined;
  /** Infinity before the first list. In good order it stays below two minutes: bookmarks. */
  readonly ageMs: number;
  /** Why the server cannot be read now. */
  readonly error: KubeError | undefined;
}

// A version that the server never reaches, or cannot read. A server that is down is none of them: when it is back, its
// clients must not all list at once.
const MAY_BE_OUR_VERSION: ReadonlySet<KubeErrorCode> = new Set(['Timeout', 'Invalid', 'BadAnswer']);
const RELIST_AFTER_FAILURES = 5;

export function createReflector<T extends KubeObject = KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { clock, resource, store, random } = options;
  const source: ReflectorSource<T> = {
    ...options,
    selection: selectionOf(options),
    transform: options.transform ?? createTransform(),
  };
  const label = collectionLabel(resource, options.namespace);
  const log = options.log.with({ resource: label });
  const position = createWatchPosition();
  const first = Promise.withResolvers<void>();
  let contact: { readonly ms: number; readonly at: Date } | undefined;
  let error: KubeError | undefined;
  let failedWatches = 0;

  return { run, synced, freshness };

  async function run(signal: AbortSignal): Promise<void> {
    let backoff = NO_ERRORS;
    while (!signal.aborted) {
      const { from } = position;
      try {
        await (from === undefined ? listOnce(signal) : watchOnce(from, signal));
      } catch (caught) {
        if (signal.aborted) return;
        error = told(caught, from === undefined ? 'list' : 'watch');
        backoff = backOffAfterError(backoff, {
          atMs: clock.monotonicMs(),
          chance: random(),
          retryAfterSeconds: error.retryAfterSeconds,
        });
        await pause(backoff.delayMs, signal);
      }
    }
  }

  async function listOnce(signal: AbortSignal): Promise<void> {
    // What a list shows is as old as its beginning.
    const begun = { ms: clock.monotonicMs(), at: clock.now() };
    await readList(source, position, signal);
    heard(begun);
    log.info('listed', { objects: store.size, resourceVersion: position.from });
    first.resolve();
  }

  async function watchOnce(from: string, signal: AbortSignal): Promise<void> {
    await followWatch(source, position, { from, signal, heard });
    heard();
    options.metrics?.restarted(resource.kind, 'Closed');
  }

  function heard(since = { ms: clock.monotonicMs(), at: clock.now() }): void {
    const news = error !== undefined || !contact;
    contact = since;
    [error, failedWatches] = [undefined, 0];
    if (news) options.recovered?.();
  }

  /** Decides what the next attempt is. */
  function told(caught: unknown, during: 'list' | 'watch'): KubeError {
    const known = isKubeError(caught)
      ? caught
      : new KubeError('BadAnswer', String(caught), { cause: caught });
    if (during === 'list') log.warn('list failed', { code: known.code, error: known });
    else watchFailed(known);
    return known;
  }

  function watchFailed(known: KubeError): void {
    log.warn('watch failed', { code: known.code, error: known });
    options.metrics?.restarted(resource.kind, known.code);
    if (MAY_BE_OUR_VERSION.has(known.code)) failedWatches += 1;
    if (known.code === 'Gone' || failedWatches >= RELIST_AFTER_FAILURES) position.from = undefined;
  }

  async function synced(signal?: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(signal?.reason);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    await Promise.race([first.promise, promise]).finally(() => signal?.removeEventListener('abort', giveUp));
  }

  function freshness(): Freshness {
    const ageMs = contact ? clock.monotonicMs() - contact.ms : Number.POSITIVE_INFINITY;
    return { synced: store.hasSynced(), lastContactAt: contact?.at, ageMs, error };
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(ms, signal).catch(() => {}); // the signal: `run` sees it
  }
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
