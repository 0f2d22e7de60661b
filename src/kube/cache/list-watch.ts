/** One list or one watch of a reflector, with the checks that protect the store from wrong answers. */
import type { Clock } from '../../os/clock.ts';
import type { Client, ListOptions, WatchEvent } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { isNewerThan, isOlderVersion, storeKey, type WritableStore } from './store.ts';
import type { Transform } from './trim.ts';
import { type Selection, verifyMissing } from './verify-missing.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

export interface ReflectorSource<T extends KubeObject> {
  readonly client: Pick<Client, 'get' | 'pages' | 'watch'>;
  readonly resource: Resource;
  readonly selection: Selection;
  readonly store: WritableStore<T>;
  readonly transform: Transform<T>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** How far the reflector has read. */
export interface WatchPosition {
  /** The resourceVersion to watch from; undefined when a list is needed. */
  from: string | undefined;
  /** The newest resourceVersion that was read. Anything older is rejected. */
  newest: string | undefined;
  pageSize: number;
  /** The server sends bookmarks, about once a minute. */
  bookmarks: boolean;
}

const PAGE = 500;
const LARGEST_PAGE = 10_000;
// The server ends a watch after this time; randomized, so that many watches do not restart together.
const WATCH_SECONDS = { min: 300, spread: 300 };
/**
 * An API server keeps no watch cache of Events, so that it sends no bookmarks about them. In a quiet cluster only the end of a watch shows that
 * it answers: it has to come before the view is stale.
 */
const SHORT_WATCH_SECONDS = { min: 60, spread: 60 };
const GROUPS_OF_EVENTS: ReadonlySet<string> = new Set(['', 'events.k8s.io']);
const GRACE_MS = 15_000;
// Bookmarks arrive about once a minute: two of them are missing.
const SILENCE_MS = 180_000;
/** A watch without events that ends sooner counts as failed. */
const SHORTEST_WATCH_MS = 1000;

export function createWatchPosition(): WatchPosition {
  return { from: undefined, newest: undefined, pageSize: PAGE, bookmarks: false };
}

/** Reads the complete list. The store changes only when all of it was read. */
export async function readCompleteList<T extends KubeObject>(
  source: ReflectorSource<T>,
  position: WatchPosition,
  signal: AbortSignal,
): Promise<void> {
  const { client, resource, selection, store, log } = source;
  let list = await completeList(source, position, signal);
  // An empty list is a typical answer of a broken cache or proxy, and does the most harm: read it twice, unless it is nothing new.
  const isKnownEmpty = store.hasSynced() && store.size === 0;
  if (list.objects.length === 0 && !isKnownEmpty) list = await completeList(source, position, signal);
  const keys = new Set(list.objects.map(({ metadata }) => storeKey(metadata)));
  const missing = store
    .list()
    .filter((object) => !keys.has(storeKey(object.metadata)) && !isNewerThan(list.version, object));
  if (missing.length > 0) await verifyMissing(missing, { client, resource, selection, signal, log });
  store.replace(list.objects, list.version);
  position.from = list.version;
  position.newest = list.version;
  position.pageSize = PAGE;
}

interface CompleteList<T> {
  readonly objects: readonly T[];
  readonly version: string | undefined;
}

async function completeList<T extends KubeObject>(
  { client, resource, selection, store, transform }: ReflectorSource<T>,
  position: WatchPosition,
  signal: AbortSignal,
): Promise<CompleteList<T>> {
  const objects: T[] = [];
  let version: string | undefined;
  try {
    const options: ListOptions = { ...selection, limit: position.pageSize, signal };
    for await (const page of client.pages(resource, options)) {
      version = requireRecent(page.resourceVersion, position, 'list');
      for (const item of page.items) objects.push(unchanged(item, store) ?? transform(item));
    }
  } catch (error) {
    // The list took so long that its continue token expired: use fewer, larger pages.
    if (isKubeError(error, 'Gone')) position.pageSize = Math.min(LARGEST_PAGE, position.pageSize * 4);
    throw error;
  }
  return { objects, version };
}

/** Reuses the cached object, from a list or from the answer to our own write: an unchanged one is never in memory twice. */
function unchanged<T extends KubeObject>({ metadata }: KubeObject, store: WritableStore<T>): T | undefined {
  const known = store.get(storeKey(metadata));
  const same =
    known?.metadata.uid === metadata.uid && known?.metadata.resourceVersion === metadata.resourceVersion;
  return same ? known : undefined;
}

interface WatchRun {
  readonly from: string;
  readonly signal: AbortSignal;
  /** Called after each event, and when the server has ended the watch. */
  readonly onContact: () => void;
}

/** Returns when the watch has ended normally, or lasted for too long. Each event is in the store before the next one is read. */
export async function followWatch<T extends KubeObject>(
  source: ReflectorSource<T>,
  position: WatchPosition,
  { from, signal, onContact }: WatchRun,
): Promise<void> {
  const { client, resource, selection, clock, random } = source;
  const timeoutSeconds = watchSeconds(resource, random());
  const longestMs = timeoutSeconds * 1000 + GRACE_MS;
  const silenceMs = (): number => (position.bookmarks ? SILENCE_MS : longestMs);
  const watchdog = createWatchdog({ clock, outer: signal, silenceMs, longestMs });
  const startMs = clock.monotonicMs();
  let events = 0;
  let isEnded = false;
  try {
    const options = { ...selection, resourceVersion: from, timeoutSeconds, signal: watchdog.signal };
    for await (const event of client.watch(resource, options)) {
      watchdog.reset();
      storeEvent(source, position, event);
      events += 1;
      onContact();
    }
    isEnded = true;
  } catch (error) {
    handleWatchError(error, watchdog);
  } finally {
    watchdog.stop();
  }
  if (events === 0 && clock.monotonicMs() - startMs < SHORTEST_WATCH_MS) {
    throw new KubeError('Unreachable', 'the watch was closed as soon as it was opened');
  }
  if (isEnded) onContact();
}

function watchSeconds({ group, plural }: Resource, random: number): number {
  const isShort = plural === 'events' && GROUPS_OF_EVENTS.has(group);
  const { min, spread } = isShort ? SHORT_WATCH_SECONDS : WATCH_SECONDS;
  return Math.round(min + random * spread);
}

/** A watch that the server did not end in time is ended, which proves no contact; one without events or bookmarks is an error. */
function handleWatchError(error: unknown, watchdog: Watchdog): void {
  const because = watchdog.endedBecause();
  if (because === 'overdue') return;
  if (because === 'silent') {
    throw new KubeError('Timeout', `the watch received nothing for ${SILENCE_MS / 1000} s`);
  }
  throw error;
}

function storeEvent<T extends KubeObject>(
  { store, transform }: ReflectorSource<T>,
  position: WatchPosition,
  event: WatchEvent,
): void {
  const { type, object } = event;
  // Cleared until the event proves to be in order: an event out of order may have skipped others, and only a list recovers them.
  position.from = undefined;
  const version = requireRecent(object.metadata.resourceVersion ?? '', position, 'event');
  if (type === 'BOOKMARK') position.bookmarks = true;
  else if (type === 'DELETED') store.remove(object);
  else store.put(unchanged(object, store) ?? transform(object));
  position.from = version;
  position.newest = version;
}

/**
 * An API server that lags behind, or a cache in front of it, may answer with an old state, in which existing objects
 * are missing and deleted ones exist.
 */
function requireRecent(version: string, { newest }: WatchPosition, what: string): string {
  if (!isOlderVersion(version, newest)) return version;
  throw new KubeError(
    'BadAnswer',
    `${what} rejected: its resourceVersion ${version} is older than ${newest} (restart this process after a restore of etcd)`,
  );
}
