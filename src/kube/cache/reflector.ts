/**
 * Keeps a store equal to the server: a paged list, then watches from its resourceVersion on. Objects leave the store
 * only by a complete list or a DELETED event: while the server cannot be read, the store ages and reports its age.
 */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import { isKubeError, KubeError, type KubeErrorCode } from '../client/errors.ts';
import { collectionLabel } from '../client/paths.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { createWatchPosition, followWatch, type ReflectorSource, readCompleteList } from './list-watch.ts';
import { createRetryDelay } from './retry-delay.ts';
import type { WritableStore } from './store.ts';
import { createTransform, type Transform } from './trim.ts';
import type { Selection } from './verify-missing.ts';
import { createWatchHold } from './watch-hold.ts';

export interface ReflectorOptions<T extends KubeObject = KubeObject> extends Selection {
  readonly client: Pick<Client, 'get' | 'pages' | 'watch'>;
  readonly resource: Resource;
  readonly store: WritableStore<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** In [0, 1). */
  readonly random: () => number;
  readonly transform?: Transform<T>;
  readonly metrics?: { restarted(kind: string, because: string): void };
  /** Called when the server can be read for the first time, or again after an error. The store may be unchanged. */
  readonly recovered?: () => void;
  /**
   * After the server was lost, each attempt waits a random part of this time. For clients by the thousand: a server that
   * comes back must not get all of them at once. The first list is tried without it.
   */
  readonly reconnectSpreadMs?: number;
}

export interface Reflector {
  /** Runs until the signal. Never rejects. Call it once. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the initial list is complete, rejects when the signal is aborted first. */
  synced(signal?: AbortSignal): Promise<void>;
  freshness(): Freshness;
  /** Ends the wait after an error: the server is known to answer again. */
  retryNow(): void;
}

export interface HoldableReflector extends Reflector {
  /** Holds the watch back until the returned function is called, or for a minute at most. Then it goes on where it ended. */
  holdWatch(): () => void;
}

/** How recent the store is. */
export interface Freshness {
  readonly synced: boolean;
  /** When the server last answered or sent an event; undefined before the initial list. */
  readonly lastContactAt: Date | undefined;
  /** Infinity before the initial list. Normally below two minutes, because of bookmarks. */
  readonly ageMs: number;
  /** The last error, while the server cannot be read. */
  readonly error: KubeError | undefined;
}

// These errors may come from a resourceVersion that the server never reaches or cannot parse: list after several of
// them. Not when the server is down, because its clients must not all list at once when it is back.
const MAY_BE_BAD_VERSION: ReadonlySet<KubeErrorCode> = new Set(['Timeout', 'Invalid', 'BadAnswer']);
const RELIST_AFTER_FAILURES = 5;

export function createReflector<T extends KubeObject = KubeObject>(
  options: ReflectorOptions<T>,
): HoldableReflector {
  const { clock, resource, store } = options;
  const label = collectionLabel(resource, options.namespace);
  const log = options.log.with({ resource: label });
  const source: ReflectorSource<T> = {
    ...options,
    log,
    selection: selectionOf(options),
    transform: options.transform ?? createTransform(),
  };
  const position = createWatchPosition();
  const watchHold = createWatchHold(clock);
  const first = Promise.withResolvers<void>();
  let contact: { readonly ms: number; readonly at: Date } | undefined;
  let error: KubeError | undefined;
  let failedWatches = 0;
  let waiting = new AbortController();

  const [retryNow, holdWatch] = [() => waiting.abort(), () => watchHold.hold()];
  return { run, synced: (signal) => orAborted(first.promise, signal), freshness, retryNow, holdWatch };

  async function run(signal: AbortSignal): Promise<void> {
    const delay = createRetryDelay(options);
    while (!signal.aborted) {
      const { from } = position;
      try {
        await (from === undefined ? listOnce(signal) : watchOnce(from, signal));
      } catch (caught) {
        if (signal.aborted) return;
        error = recordError(caught, from === undefined ? 'list' : 'watch');
        const isLost = store.hasSynced() && delay.isSpread(error);
        // A server that was restarted knows no older resourceVersion: a watch from there would be a lost request.
        if (isLost) position.from = undefined;
        await pause(delay.after(error, isLost), signal);
      }
    }
  }

  async function listOnce(signal: AbortSignal): Promise<void> {
    // A list shows the state at its start.
    const started = { ms: clock.monotonicMs(), at: clock.now() };
    await readCompleteList(source, position, signal);
    recordContact(started);
    log.info('list complete', { objects: store.size, resourceVersion: position.from });
    first.resolve();
  }

  async function watchOnce(from: string, signal: AbortSignal): Promise<void> {
    const asked = { from, onContact: recordContact };
    const follow = (open: AbortSignal) => followWatch(source, position, { ...asked, signal: open });
    const ended = await watchHold.run(follow, signal);
    if (ended === 'Held') return;
    options.metrics?.restarted(resource.kind, 'Closed');
  }

  function recordContact(time = { ms: clock.monotonicMs(), at: clock.now() }): void {
    const recovered = error !== undefined || !contact;
    contact = time;
    [error, failedWatches] = [undefined, 0];
    if (recovered) options.recovered?.();
  }

  /** Logs the error and decides whether the next attempt is a list or a watch. */
  function recordError(caught: unknown, during: 'list' | 'watch'): KubeError {
    const known = isKubeError(caught)
      ? caught
      : new KubeError('BadAnswer', String(caught), { cause: caught });
    if (during === 'list') log.warn('list failed', { code: known.code, error: known });
    else recordWatchError(known);
    return known;
  }

  function recordWatchError(known: KubeError): void {
    log.warn('watch failed', { code: known.code, error: known });
    options.metrics?.restarted(resource.kind, known.code);
    if (MAY_BE_BAD_VERSION.has(known.code)) failedWatches += 1;
    if (known.code === 'Gone' || failedWatches >= RELIST_AFTER_FAILURES) position.from = undefined;
  }

  function freshness(): Freshness {
    const ageMs = contact ? clock.monotonicMs() - contact.ms : Number.POSITIVE_INFINITY;
    return { synced: store.hasSynced(), lastContactAt: contact?.at, ageMs, error };
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    waiting = new AbortController();
    await clock.sleep(ms, AbortSignal.any([signal, waiting.signal])).catch(() => {}); // `run` checks the signal
  }
}

/** Rejects when the signal is aborted first. */
async function orAborted(listed: Promise<void>, signal?: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal?.reason);
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  await Promise.race([listed, promise]).finally(() => signal?.removeEventListener('abort', giveUp));
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
