/**
 * A small API server for one kind: revisions, pages of one moment, watches with bookmarks, compaction, and the faults of
 * a network, each for the next list or watch. Time is the test's.
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
  /** The list of an older moment, as a replica answers that lags behind. */
  | { readonly fault: 'old'; readonly revisions: number }
  /** Of now, and with nothing in it. */
  | { readonly fault: 'empty' };

export type WatchFault =
  | {
      readonly fault: 'error';
      readonly code: KubeErrorCode;
      readonly afterEvents?: number;
      readonly retryAfterSeconds?: number;
    }
  /** Ends in good order, too early. */
  | { readonly fault: 'close'; readonly afterEvents?: number }
  /** Stays open, and says nothing any more, not even bookmarks. */
  | { readonly fault: 'freeze'; readonly afterEvents?: number }
  /** Tells the last events out of turn: old ones again, or new ones before those that they follow. */
  | { readonly fault: 'replay'; readonly events: number };

export interface SmallServer extends Pick<Client, 'get' | 'pages' | 'watch'> {
  put(name: string, fields?: Readonly<Record<string, unknown>>): KubeObject;
  delete(name: string): void;
  /** So many changes of objects that these lists and watches do not select. */
  elsewhere(changes: number): void;
  /** Forgets all history: who is not up to date must list again. */
  compact(): void;
  objects(): readonly KubeObject[];
  has(uid: string | undefined): boolean;
  /** For the next list, the one after that, … */
  readonly listFaults: ListFault[];
  readonly watchFaults: WatchFault[];
  /** What was asked for, in order: `list 500`, `watch 12`. */
  readonly asked: string[];
  bookmarks: boolean;
}

const BOOKMARK_MS = 60_000;

interface Past {
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

export function smallServer(clock: Clock): SmallServer {
  let revision = 100;
  let uids = 0;
  let compacted = 0;
  const present = new Map<string, KubeObject>();
  const history: Past[] = [];
  const listeners = new Set<() => void>();

  const server: SmallServer = {
    put,
    delete: remove,
    elsewhere: (changes) => {
      revision += changes;
    },
    compact: () => {
      compacted = revision;
    },
    objects: () => [...present.values()],
    has: (uid) => [...present.values()].some(({ metadata }) => metadata.uid === uid),
    get: get as SmallServer['get'],
    pages: pages as SmallServer['pages'],
    watch,
    listFaults: [],
    watchFaults: [],
    asked: [],
    bookmarks: true,
  };
  return server;

  function put(name: string, fields: Readonly<Record<string, unknown>> = {}): KubeObject {
    const before = present.get(name);
    revision += 1;
    uids += before ? 0 : 1;
    const uid = before?.metadata.uid ?? `uid-${uids}`;
    const object = {
      apiVersion: 'test/v1',
      kind: 'Thing',
      metadata: { name, uid, resourceVersion: String(revision) },
      ...fields,
    };
    present.set(name, object);
    happened({ revision, type: before ? 'MODIFIED' : 'ADDED', object });
    return object;
  }

  function remove(name: string): void {
    const object = present.get(name);
    if (!object) return;
    revision += 1;
    present.delete(name);
    const metadata = { ...object.metadata, resourceVersion: String(revision) };
    happened({ revision, type: 'DELETED', object: { ...object, metadata } });
  }

  function happened(past: Past): void {
    history.push(past);
    for (const wake of listeners) wake();
  }

  function at(moment: number): KubeObject[] {
    const then = new Map<string, KubeObject>();
    for (const past of history.filter((entry) => entry.revision <= moment)) {
      if (past.type === 'DELETED') then.delete(past.object.metadata.name);
      else then.set(past.object.metadata.name, past.object);
    }
    return [...then.values()];
  }

  async function get(_: Resource, { name }: ObjectName): Promise<KubeObject> {
    await Promise.resolve();
    const object = present.get(name);
    if (!object) throw new KubeError('NotFound', `no ${name}`);
    return copy(object);
  }

  function momentFor(fault: ListFault | undefined): number {
    return fault?.fault === 'old' ? Math.max(100, revision - fault.revisions) : revision;
  }

  async function* pages(_: Resource, { limit = 500, signal }: ListOptions = {}): AsyncGenerator<ListPage> {
    server.asked.push(`list ${limit}`);
    const fault = server.listFaults.shift();
    const moment = momentFor(fault);
    const all = fault?.fault === 'empty' ? [] : at(moment);
    for (const from of starts(all.length, limit)) {
      await turn(signal);
      if (from / limit >= lastsFor(fault)) breakOff(fault);
      yield { items: all.slice(from, from + limit).map(copy), resourceVersion: String(moment) };
    }
  }

  async function* watch(_: Resource, options: WatchOptions): AsyncGenerator<WatchEvent> {
    const { resourceVersion, timeoutSeconds, signal } = options;
    server.asked.push(`watch ${resourceVersion}`);
    const fault = server.watchFaults.shift();
    const endMs = clock.monotonicMs() + timeoutSeconds * 1000;
    await turn(signal);
    if (Number(resourceVersion) < compacted) throw new KubeError('Gone', 'too old resource version');
    if (fault?.fault === 'replay') yield* history.slice(-fault.events).map(eventOf);
    yield* first(lastsFor(fault), eventsFrom(Number(resourceVersion), endMs, signal));
    breakOff(fault);
    if (fault?.fault === 'freeze') await clock.sleep(Number.MAX_SAFE_INTEGER, signal);
  }

  async function* eventsFrom(
    version: number,
    endMs: number,
    signal?: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    let seen = version;
    for (;;) {
      for (const past of history.filter((entry) => entry.revision > seen)) {
        seen = past.revision;
        yield eventOf(past);
      }
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0) return;
      const news = await newsWithin(Math.min(BOOKMARK_MS, leftMs), signal);
      if (news || !server.bookmarks) continue;
      seen = revision;
      yield { type: 'BOOKMARK', object: bookmark(revision) };
    }
  }

  /** True when something happened before the time was over. */
  async function newsWithin(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const stop = new AbortController();
    const news = Promise.withResolvers<boolean>();
    const wake = (): void => news.resolve(true);
    listeners.add(wake);
    const both = signal ? AbortSignal.any([stop.signal, signal]) : stop.signal;
    const time = clock.sleep(ms, both).then(() => false);
    try {
      return await Promise.race([news.promise, time]);
    } finally {
      listeners.delete(wake);
      stop.abort();
      time.catch(() => {});
    }
  }
}

/** Where pages begin; an empty list is a page too. */
function starts(length: number, limit: number): number[] {
  return Array.from({ length: Math.max(1, Math.ceil(length / limit)) }, (_, page) => page * limit);
}

/** Every answer takes at least a turn of the event loop, and none comes after its signal. */
async function turn(signal: AbortSignal | undefined): Promise<void> {
  await Promise.resolve();
  if (signal?.aborted) throw new KubeError('Aborted', 'given up', { cause: signal.reason });
}

function eventOf({ type, object }: Past): WatchEvent {
  return { type, object: copy(object) };
}

function bookmark(revision: number): KubeObject {
  return { apiVersion: 'test/v1', kind: 'Thing', metadata: { name: '', resourceVersion: String(revision) } };
}

/** As fresh from the parser. */
function copy(object: KubeObject): KubeObject {
  return structuredClone(object);
}

/** How many pages or events come before the fault. */
function lastsFor(fault: ListFault | WatchFault | undefined): number {
  const whole =
    fault === undefined || fault.fault === 'old' || fault.fault === 'empty' || fault.fault === 'replay';
  if (whole) return Number.POSITIVE_INFINITY;
  return ('afterPages' in fault ? fault.afterPages : 'afterEvents' in fault ? fault.afterEvents : 0) ?? 0;
}

function breakOff(fault: ListFault | WatchFault | undefined): void {
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
