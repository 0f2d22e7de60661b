/**
 * A simulated API server for one kind: revisions, consistent pages, watches with bookmarks, compaction, and network
 * faults, each for the next list or watch. Runs on the clock of the test.
 */
import type {
  Client,
  ListOptions,
  ListPage,
  WatchEvent,
  WatchOptions,
} from '../../../src/kube/client/client.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject, ObjectName, Resource } from '../../../src/kube/objects/object.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { ApiObjects, changeTypeOf, type StoredChange } from '../../../src/sim/api-server/objects.ts';

export const THINGS: Resource = {
  group: 'test',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  namespaced: false,
};

export type ListFault =
  | {
      readonly fault: 'error';
      readonly code: KubeErrorCode;
      readonly afterPages?: number;
      readonly retryAfterSeconds?: number;
    }
  /** The list at an older revision, as from a replica that lags behind. */
  | { readonly fault: 'old'; readonly revisions: number }
  /** An empty list at the current revision. */
  | { readonly fault: 'empty' };

export type WatchFault =
  | {
      readonly fault: 'error';
      readonly code: KubeErrorCode;
      readonly afterEvents?: number;
      readonly retryAfterSeconds?: number;
    }
  /** Ends normally, but too early. */
  | { readonly fault: 'close'; readonly afterEvents?: number }
  /** Stays open without further events or bookmarks. */
  | { readonly fault: 'freeze'; readonly afterEvents?: number }
  /** Sends the last events out of order: old ones again, or new ones before their predecessors. */
  | { readonly fault: 'replay'; readonly events: number };

export interface SmallServer extends Pick<Client, 'get' | 'pages' | 'watch'> {
  put(name: string, fields?: Readonly<Record<string, unknown>>): KubeObject;
  delete(name: string): void;
  /** Advances the revision as by changes of objects that are not selected. */
  elsewhere(changes: number): void;
  /** Drops all history: a client that is not up to date must list again. */
  compact(): void;
  objects(): readonly KubeObject[];
  has(uid: string | undefined): boolean;
  /** For the next list, the one after it, and so on. */
  readonly listFaults: ListFault[];
  readonly watchFaults: WatchFault[];
  /** The requests, in order: `list 500`, `watch 12`. */
  readonly requests: string[];
  bookmarks: boolean;
}

const KIND = { resource: THINGS };
const BOOKMARK_MS = 60_000;

export function createSmallServer(clock: Clock): SmallServer {
  const objects = new ApiObjects({ clock, changed: () => notifyAll() });
  const listeners = new Set<() => void>();
  let compacted = 0;
  let puts = 0;

  const server: SmallServer = {
    put,
    delete: remove,
    elsewhere: (changes) => objects.advance(changes),
    compact: () => {
      compacted = objects.revision;
    },
    objects: () => objects.list(KIND),
    has: (uid) => objects.list(KIND).some(({ metadata }) => metadata.uid === uid),
    get: get as SmallServer['get'],
    pages: pages as SmallServer['pages'],
    watch,
    listFaults: [],
    watchFaults: [],
    requests: [],
    bookmarks: true,
  };
  return server;

  /** Always another object than before. */
  function put(name: string, fields: Readonly<Record<string, unknown>> = {}): KubeObject {
    puts += 1;
    const metadata = { name, annotations: { put: String(puts) } };
    return objects.put(
      KIND,
      { apiVersion: 'test/v1', kind: 'Thing', metadata, ...fields },
      { manager: 'test' },
    );
  }

  function remove(name: string): void {
    if (objects.find(KIND, { name })) objects.delete(KIND, { name });
  }

  function notifyAll(): void {
    for (const notify of listeners) notify();
  }

  function history(): readonly StoredChange[] {
    return objects.history.get(THINGS.kind) ?? [];
  }

  function objectsAt(revision: number): KubeObject[] {
    const found = new Map<string, KubeObject>();
    for (const { after, object } of history().filter((change) => change.revision <= revision)) {
      if (after) found.set(object.metadata.name, after);
      else found.delete(object.metadata.name);
    }
    return [...found.values()];
  }

  async function get(_: Resource, { name }: ObjectName): Promise<KubeObject> {
    await Promise.resolve();
    const object = objects.find(KIND, { name });
    if (!object) throw new KubeError('NotFound', `no ${name}`);
    return copy(object);
  }

  function revisionFor(fault: ListFault | undefined): number {
    return fault?.fault === 'old' ? Math.max(100, objects.revision - fault.revisions) : objects.revision;
  }

  async function* pages(_: Resource, { limit = 500, signal }: ListOptions = {}): AsyncGenerator<ListPage> {
    server.requests.push(`list ${limit}`);
    const fault = server.listFaults.shift();
    const atRevision = revisionFor(fault);
    const all = fault?.fault === 'empty' ? [] : objectsAt(atRevision);
    for (const from of starts(all.length, limit)) {
      await turn(signal);
      if (from / limit >= countBefore(fault)) throwFault(fault);
      yield { items: all.slice(from, from + limit).map(copy), resourceVersion: String(atRevision) };
    }
  }

  async function* watch(_: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const { resourceVersion, timeoutSeconds, signal } = options;
    server.requests.push(`watch ${resourceVersion}`);
    const fault = server.watchFaults.shift();
    const endMs = clock.monotonicMs() + timeoutSeconds * 1000;
    await turn(signal);
    if (Number(resourceVersion) < compacted) throw new KubeError('Gone', 'too old resource version');
    if (fault?.fault === 'replay') yield* history().slice(-fault.events).map(eventOf);
    yield* first(countBefore(fault), eventsFrom(Number(resourceVersion), endMs, signal));
    throwFault(fault);
    if (fault?.fault === 'freeze') await clock.sleep(Number.MAX_SAFE_INTEGER, signal);
  }

  async function* eventsFrom(
    version: number,
    endMs: number,
    signal?: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    let sent = version;
    for (;;) {
      for (const past of history().filter((entry) => entry.revision > sent)) {
        sent = past.revision;
        yield eventOf(past);
      }
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      const changed = await changesWithin(Math.min(BOOKMARK_MS, leftMs), signal);
      if (changed || !server.bookmarks) continue;
      sent = objects.revision;
      yield { type: 'BOOKMARK', object: bookmark(sent) };
    }
  }

  /** True when something changed within the time. */
  async function changesWithin(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const stop = new AbortController();
    const change = Promise.withResolvers<boolean>();
    const notify = (): void => change.resolve(true);
    listeners.add(notify);
    const both = signal ? AbortSignal.any([stop.signal, signal]) : stop.signal;
    const time = clock.sleep(ms, both).then(() => false);
    try {
      return await Promise.race([change.promise, time]);
    } finally {
      listeners.delete(notify);
      stop.abort();
      time.catch(() => {});
    }
  }
}

/** The index of each page's first item. An empty list has one page. */
function starts(length: number, limit: number): number[] {
  return Array.from({ length: Math.max(1, Math.ceil(length / limit)) }, (_, page) => page * limit);
}

/** Every answer takes at least one turn of the event loop, and none arrives after the signal. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await Promise.resolve();
  if (signal?.aborted) throw new KubeError('Aborted', 'aborted', { cause: signal.reason });
}

function eventOf(change: StoredChange): WatchEvent {
  return { type: changeTypeOf(change), object: copy(change.object) };
}

function bookmark(revision: number): KubeObject {
  return { apiVersion: 'test/v1', kind: 'Thing', metadata: { name: '', resourceVersion: String(revision) } };
}

/** A new object, as from the parser. */
function copy(object: KubeObject): KubeObject {
  return structuredClone(object);
}

/** The number of pages or events before the fault. */
function countBefore(fault: ListFault | WatchFault | undefined): number {
  const whole =
    fault === undefined || fault.fault === 'old' || fault.fault === 'empty' || fault.fault === 'replay';
  if (whole) return Number.POSITIVE_INFINITY;
  return ('afterPages' in fault ? fault.afterPages : 'afterEvents' in fault ? fault.afterEvents : 0) ?? 0;
}

function throwFault(fault: ListFault | WatchFault | undefined): void {
  if (fault?.fault !== 'error') return;
  const { code, retryAfterSeconds } = fault;
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  throw new KubeError(code, `an injected ${code}`, wait);
}

/** Bookmarks do not count. */
async function* first(count: number, events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent> {
  let left = count;
  if (left <= 0) return;
  for await (const event of events) {
    yield event;
    left -= event.type === 'BOOKMARK' ? 0 : 1;
    if (left <= 0) return;
  }
}
