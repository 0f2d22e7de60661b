/** One list, or one watch, of a reflector: how it is read, and what of it is believed. */

import type { Clock } from '../../os/clock.ts';
import type { Client, ListOptions, WatchEvent } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
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
}

/** Where we are in the history of the server. */
export interface WatchPosition {
  /** Where to watch from; undefined when a list is due. */
  from: string | undefined;
  /** The newest moment that we saw. Nothing older is believed. */
  newest: string | undefined;
  pageSize: number;
  /** This server tells its version about once a minute, also when nothing happens. */
  bookmarks: boolean;
}

const PAGE = 500;
const LARGEST_PAGE = 10_000;
// The server ends a watch after this time; spread, so that thousands of them do not come back together.
const WATCH_SECONDS = { least: 300, spread: 300 };
const GRACE_MS = 15_000;
// Bookmarks come about once a minute: two of them are missing.
const SILENCE_MS = 180_000;
/** A watch that ends sooner did not work, whatever it says. */
const SHORTEST_WATCH_MS = 1000;

export function createWatchPosition(): WatchPosition {
  return { from: undefined, newest: undefined, pageSize: PAGE, bookmarks: false };
}

/** The whole list or an error; only the whole list reaches the store. */
export async function readList<T extends KubeObject>(
  source: ReflectorSource<T>,
  position: WatchPosition,
  signal: AbortSignal,
): Promise<void> {
  const { client, resource, selection, store } = source;
  let list = await wholeList(source, position, signal);
  // Nothing at all is what broken caches and proxies like to say, and what does most harm. It costs little to ask twice.
  if (list.objects.length === 0) list = await wholeList(source, position, signal);
  const keys = new Set(list.objects.map(({ metadata }) => storeKey(metadata)));
  const missing = store
    .list()
    .filter((object) => !keys.has(storeKey(object.metadata)) && !isNewerThan(list.version, object));
  if (missing.length > 0) await verifyMissing(missing, { client, resource, selection, signal });
  store.replace(list.objects, list.version);
  position.from = list.version;
  position.newest = list.version;
  position.pageSize = PAGE;
}

interface WholeList<T> {
  readonly objects: readonly T[];
  readonly version: string | undefined;
}

async function wholeList<T extends KubeObject>(
  { client, resource, selection, store, transform }: ReflectorSource<T>,
  position: WatchPosition,
  signal: AbortSignal,
): Promise<WholeList<T>> {
  const objects: T[] = [];
  let version: string | undefined;
  try {
    const options: ListOptions = { ...selection, limit: position.pageSize, signal };
    for await (const page of client.pages(resource, options)) {
      version = believable(page.resourceVersion, position, 'a list');
      for (const item of page.items) objects.push(unchanged(item, store) ?? transform(item));
    }
  } catch (error) {
    // The list took so long that the server forgot where it began: fewer, larger pages.
    if (isKubeError(error, 'Gone')) position.pageSize = Math.min(LARGEST_PAGE, position.pageSize * 4);
    throw error;
  }
  return { objects, version };
}

/** What we have already is not kept twice, not even for a moment. */
function unchanged<T extends KubeObject>({ metadata }: KubeObject, store: WritableStore<T>): T | undefined {
  const known = store.get(storeKey(metadata));
  const same =
    known?.metadata.uid === metadata.uid && known?.metadata.resourceVersion === metadata.resourceVersion;
  return same ? known : undefined;
}

interface Follow {
  readonly from: string;
  readonly signal: AbortSignal;
  /** After each event. */
  readonly heard: () => void;
}

/** Returns when the server ended the watch in good order. Each event is in the store before the next is read. */
export async function followWatch<T extends KubeObject>(
  source: ReflectorSource<T>,
  position: WatchPosition,
  { from, signal, heard }: Follow,
): Promise<void> {
  const { client, resource, selection, clock, random } = source;
  const timeoutSeconds = Math.round(WATCH_SECONDS.least + random() * WATCH_SECONDS.spread);
  const longestMs = timeoutSeconds * 1000 + GRACE_MS;
  const silenceMs = (): number => (position.bookmarks ? SILENCE_MS : longestMs);
  const dog = createWatchdog({ clock, outer: signal, silenceMs, longestMs });
  const startMs = clock.monotonicMs();
  let events = 0;
  try {
    const options = { ...selection, resourceVersion: from, timeoutSeconds, signal: dog.signal };
    for await (const event of client.watch(resource, options)) {
      dog.heard();
      take(source, position, event);
      events += 1;
      heard();
    }
  } catch (error) {
    judge(error, dog);
  } finally {
    dog.stop();
  }
  if (events === 0 && clock.monotonicMs() - startMs < SHORTEST_WATCH_MS) {
    throw new KubeError('Unreachable', 'the watch was closed as soon as it was open');
  }
}

/** A watch that the server forgot to end is as good as ended; one that fell silent is an error. */
function judge(error: unknown, dog: Watchdog): void {
  const why = dog.endedBecause();
  if (why === 'overdue') return;
  if (why === 'silent') throw new KubeError('Timeout', `the watch fell silent for ${SILENCE_MS / 1000} s`);
  throw error;
}

function take<T extends KubeObject>(
  { store, transform }: ReflectorSource<T>,
  position: WatchPosition,
  event: WatchEvent,
): void {
  const { type, object } = event;
  // Until it has proved to be in order: events out of turn may have jumped over others, which only a list can bring back.
  position.from = undefined;
  const version = believable(object.metadata.resourceVersion ?? '', position, 'an event');
  if (type === 'BOOKMARK') position.bookmarks = true;
  else if (type === 'DELETED') store.remove(object);
  else store.put(transform(object));
  position.from = version;
  position.newest = version;
}

/**
 * An API server that lags behind, or a cache in front of it, may show the past. In the past, objects are missing that
 * exist, and objects exist that are gone.
 */
function believable(version: string, { newest }: WatchPosition, what: string): string {
  if (!isOlderVersion(version, newest)) return version;
  throw new KubeError(
    'BadAnswer',
    `${what} of the past, version ${version} after ${newest}: not believed (after a restore of etcd, restart this process)`,
  );
}
