import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeErrorCode } from '../../src/kube/errors.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { type Reflector, reflector } from '../../src/kube/reflector.ts';
import { store, type WritableStore } from '../../src/kube/store.ts';
import { runs } from '../support/long.ts';
import { memoryLog } from '../support/memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../support/virtual-clock.ts';
import { type ListFault, type SmallServer, smallServer, THINGS, type WatchFault } from './small-server.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** How long a watch is asked for when chance is one half. */
const WATCH_MS = 450 * SECOND;

interface Bed {
  readonly clock: VirtualClock;
  readonly server: SmallServer;
  readonly store: WritableStore;
  readonly reflector: Reflector;
  /** `+a`, `~a`, `-a`, `?a` for a deletion that was missed. */
  readonly told: string[];
  readonly restarts: string[];
  readonly stop: () => Promise<void>;
}

/** A reflector that runs, with these objects on the server; `chance` is always one half. */
async function bed(
  names: readonly string[] = [],
  prepare: (server: SmallServer) => void = () => {},
): Promise<Bed> {
  const clock = virtualClock();
  const server = smallServer(clock);
  for (const name of names) server.put(name);
  prepare(server);
  const objects = store({ log: memoryLog() });
  const told: string[] = [];
  const restarts: string[] = [];
  objects.subscribe({
    added: ({ metadata }) => told.push(`+${metadata.name}`),
    updated: ({ metadata }) => told.push(`~${metadata.name}`),
    removed: ({ metadata }, missed) => told.push(`${missed ? '?' : '-'}${metadata.name}`),
  });
  const metrics = { restarted: (kind: string, because: string) => void restarts.push(`${kind} ${because}`) };
  const parts = { client: server, resource: THINGS, store: objects, clock, log: memoryLog(), metrics };
  const running = reflector({ ...parts, random: () => 0.5 });
  const giveUp = new AbortController();
  const done = running.run(giveUp.signal);
  const stop = async (): Promise<void> => {
    giveUp.abort();
    await done;
  };
  onTestFinished(stop);
  await settle();
  return { clock, server, store: objects, reflector: running, told, restarts, stop };
}

function contents(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata: { name, uid, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted();
}

describe('reflector', () => {
  it('lists, then follows', async () => {
    const { server, told, store: objects } = await bed(['a', 'b']);
    expect(objects.hasSynced()).toBe(true);
    server.put('c');
    server.put('a');
    server.delete('b');
    await settle();
    expect(told).toEqual(['+a', '+b', '+c', '~a', '-b']);
    expect(server.asked).toEqual(['list 500', 'watch 102']);
  });

  it('watches again from where it was when the server ends a watch, without a list', async () => {
    const { clock, server, told, restarts } = await bed(['a']);
    server.put('b');
    await clock.advance(11 * MINUTE);
    server.put('c');
    await settle();
    expect(told).toEqual(['+a', '+b', '+c']);
    expect(server.asked).toEqual(['list 500', 'watch 101', 'watch 102']);
    expect(restarts).toEqual(['Thing Closed']);
  });

  it('follows bookmarks, so that a quiet kind needs no list after a compaction', async () => {
    const { clock, server } = await bed(['a']);
    // Of another selection, so that no event comes: only a bookmark tells how far the server is.
    server.elsewhere(50);
    await clock.advance(2 * MINUTE);
    server.compact();
    await clock.advance(2 * WATCH_MS);
    expect(server.asked).toEqual(['list 500', 'watch 101', 'watch 151', 'watch 151']);
  });

  it('lists again when its version is gone, and tells of deletions that it missed', async () => {
    const { clock, server, told } = await bed(['a', 'b'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'error', code: 'Unreachable' });
    });
    server.delete('a');
    server.put('c');
    server.compact();
    await clock.advance(30 * SECOND);
    expect(told).toEqual(['+a', '+b', '?a', '+c']);
    expect(server.asked.filter((line) => line.startsWith('list'))).toHaveLength(2);
  });

  it('notices that an object was deleted and made anew under its name', async () => {
    const { clock, server, told } = await bed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Gone' });
    });
    server.delete('a');
    server.put('a');
    await clock.advance(30 * SECOND);
    expect(told).toEqual(['+a', '?a', '+a']);
  });

  it.each<KubeErrorCode>([
    'Unreachable',
    'ServerError',
    'Timeout',
    'Unauthorized',
    'Forbidden',
    'BadAnswer',
    'Invalid',
  ])('keeps what it has while lists and watches fail with %s, and says so', async (code) => {
    const { clock, server, store: objects, reflector: running } = await bed(['a']);
    server.watchFaults.push(...times(10, { fault: 'error', code }));
    server.listFaults.push(...times(10, { fault: 'error', code }));
    await clock.advance(WATCH_MS + MINUTE);
    expect(objects.get('a')).toBeDefined();
    expect(running.freshness()).toMatchObject({ synced: true, error: { code } });
    await clock.advance(10 * MINUTE);
    expect(running.freshness().error).toBeUndefined();
    expect(running.freshness().ageMs).toBeLessThan(2 * MINUTE);
  });

  it('does not list all over again because the server was down', async () => {
    const { clock, server } = await bed(['a']);
    server.watchFaults.push(...times(20, { fault: 'error', code: 'Unreachable' }));
    await clock.advance(30 * MINUTE);
    expect(server.asked.filter((line) => line.startsWith('list'))).toHaveLength(1);
  });

  it('lists when its version may be the trouble: the server never reaches it', async () => {
    const { clock, server } = await bed(['a']);
    server.watchFaults.push(...times(5, { fault: 'error', code: 'Timeout' }));
    await clock.advance(20 * MINUTE);
    expect(server.asked.filter((line) => line.startsWith('list'))).toHaveLength(2);
  });

  it('waits longer after each error, as long as the server wants, and starts small again after a stable time', async () => {
    const { clock, server } = await bed([], ({ listFaults }) => {
      listFaults.push({ fault: 'error', code: 'ServerError' }, { fault: 'error', code: 'ServerError' });
      listFaults.push({ fault: 'error', code: 'TooManyRequests', retryAfterSeconds: 20 });
    });
    const waits: number[] = [];
    let lists = 1;
    for (let ms = 0; ms < 60 * SECOND; ms += 100) {
      await clock.advance(100);
      const now = server.asked.filter((line) => line.startsWith('list')).length;
      if (now > lists) waits.push(ms + 100);
      lists = now;
    }
    // 0.75 × 0.8 s, 0.75 × 1.6 s, and 20 s with a twentieth on top.
    expect(waits).toEqual([600, 1800, 22_800]);
  });

  it('does not hammer a server that closes each watch at once', async () => {
    const { clock, server } = await bed(['a']);
    server.watchFaults.push(...times(1000, { fault: 'close' }));
    const before = server.asked.length;
    await clock.advance(20 * MINUTE);
    expect(server.asked.length - before).toBeLessThan(60);
  });

  it('gives up a watch that fell silent, once it knows that this server sends bookmarks', async () => {
    const { clock, server, told, restarts } = await bed(['a']);
    await clock.advance(2 * MINUTE);
    server.watchFaults.push({ fault: 'freeze' });
    await clock.advance(10 * MINUTE);
    server.put('b');
    await clock.advance(4 * MINUTE);
    expect(told).toEqual(['+a', '+b']);
    expect(restarts).toContain('Thing Timeout');
  });

  it('gives up a watch that the server forgot to end, without bookmarks too', async () => {
    const { clock, server, told, restarts } = await bed(['a'], (prepared) => {
      prepared.bookmarks = false;
      prepared.watchFaults.push({ fault: 'freeze' });
    });
    server.put('b');
    await clock.advance(8 * MINUTE);
    expect(told).toEqual(['+a', '+b']);
    expect(restarts).toEqual(['Thing Closed']);
  });

  it('knows how old it is', async () => {
    const { clock, server, reflector: running } = await bed(['a']);
    expect(running.freshness()).toMatchObject({ synced: true, lastContactAt: clock.now() });
    await clock.advance(30 * SECOND);
    expect(running.freshness().ageMs).toBe(30 * SECOND);
    server.put('b');
    await settle();
    expect(running.freshness().ageMs).toBe(0);
  });

  it('is not synced before the first whole list', async () => {
    const fault: ListFault = { fault: 'error', code: 'Unreachable', afterPages: 1 };
    const {
      clock,
      reflector: running,
      store: objects,
    } = await bed(many(600), ({ listFaults }) => listFaults.push(fault));
    expect(running.freshness()).toMatchObject({
      synced: false,
      lastContactAt: undefined,
      ageMs: Number.POSITIVE_INFINITY,
    });
    expect(objects.size).toBe(0);
    const early = new AbortController();
    const waiting = running.synced(early.signal).catch((error: unknown) => error);
    early.abort(new Error('no time'));
    expect(await waiting).toEqual(new Error('no time'));
    await clock.advance(5 * SECOND);
    await running.synced();
    expect(objects.size).toBe(600);
  });

  it('asks for fewer, larger pages when a list takes longer than the server remembers', async () => {
    const {
      clock,
      server,
      store: objects,
    } = await bed(many(1200), ({ listFaults }) => {
      listFaults.push(
        { fault: 'error', code: 'Gone', afterPages: 1 },
        { fault: 'error', code: 'Gone', afterPages: 0 },
      );
    });
    await clock.advance(30 * SECOND);
    expect(server.asked.slice(0, 3)).toEqual(['list 500', 'list 2000', 'list 8000']);
    expect(objects.size).toBe(1200);
  });

  it('does not believe a list of the past', async () => {
    const { clock, server, told, reflector: running } = await bed(['a']);
    server.put('b');
    server.put('c');
    await settle();
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    server.listFaults.push(...times(5, { fault: 'old', revisions: 2 }));
    await clock.advance(WATCH_MS + 5 * SECOND);
    expect(told).toEqual(['+a', '+b', '+c']);
    expect(running.freshness().error).toMatchObject({ code: 'BadAnswer' });
    await clock.advance(5 * MINUTE);
    expect(running.freshness().error).toBeUndefined();
    expect(told).toEqual(['+a', '+b', '+c']);
  });

  it('does not believe a list that lacks what is there', async () => {
    const { clock, server, told, reflector: running } = await bed(['a', 'b', 'c']);
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    server.listFaults.push(...times(6, { fault: 'empty' }));
    await clock.advance(WATCH_MS + 5 * SECOND);
    expect(running.freshness().error).toMatchObject({ code: 'BadAnswer' });
    await clock.advance(MINUTE);
    expect(running.freshness().error).toBeUndefined();
    expect(told).toEqual(['+a', '+b', '+c']);
  });

  it('does not believe that there is nothing when it is told so for the first time', async () => {
    const { told } = await bed(['a'], ({ listFaults }) => listFaults.push({ fault: 'empty' }));
    expect(told).toEqual(['+a']);
    const nothing = await bed([]);
    expect(nothing.server.asked).toEqual(['list 500', 'list 500', 'watch 100']);
  });

  it('does not believe events of the past', async () => {
    const { clock, server, told } = await bed(['a']);
    server.put('b');
    server.delete('b');
    await settle();
    server.watchFaults.push({ fault: 'replay', events: 2 });
    await clock.advance(12 * MINUTE);
    expect(told).toEqual(['+a', '+b', '-b']);
  });

  it('keeps the very objects that a new list finds unchanged', async () => {
    const { clock, server, store: objects } = await bed(['a', 'b']);
    const before = objects.get('a');
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    await clock.advance(11 * MINUTE);
    expect(server.asked.filter((line) => line.startsWith('list'))).toHaveLength(2);
    expect(objects.get('a')).toBe(before);
  });

  it('lists when events come out of turn: others may have been jumped over', async () => {
    const {
      clock,
      server,
      store: objects,
      restarts,
    } = await bed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'replay', events: 1 });
    });
    server.put('b');
    server.put('c');
    await clock.advance(MINUTE);
    expect(contents(objects.list())).toEqual(contents(server.objects()));
    expect(server.asked.filter((line) => line.startsWith('list'))).toHaveLength(2);
    expect(restarts).toEqual(['Thing Unreachable', 'Thing BadAnswer']);
  });

  it('ends with its signal, wherever it is', async () => {
    const watching = await bed(['a']);
    await watching.stop();
    const waiting = await bed([], ({ listFaults }) =>
      listFaults.push({ fault: 'error', code: 'Unreachable' }),
    );
    await waiting.stop();
    expect([watching.clock.sleepers, waiting.clock.sleepers]).toEqual([0, 0]);
  });

  it('never loses an object that exists, and always converges', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 60 }), survives),
      runs(150, 5000),
    );
  }, 600_000);
});

type Step =
  | { readonly step: 'put'; readonly name: string }
  | { readonly step: 'delete'; readonly name: string }
  | { readonly step: 'compact' }
  | { readonly step: 'list fault'; readonly fault: ListFault }
  | { readonly step: 'list again'; readonly fault: ListFault }
  | { readonly step: 'watch fault'; readonly fault: WatchFault }
  | { readonly step: 'time'; readonly ms: number };

const anyCode = fc.constantFrom<KubeErrorCode>(
  'Unreachable',
  'Gone',
  'ServerError',
  'TooManyRequests',
  'BadAnswer',
  'Timeout',
);
const anyName = fc.constantFrom('a', 'b', 'c', 'd');
const few = fc.nat(3);
const anyListFault: fc.Arbitrary<ListFault> = fc.oneof(
  fc.record({ fault: fc.constant('error' as const), code: anyCode, afterPages: few }),
  fc.record({ fault: fc.constant('old' as const), revisions: fc.nat(8) }),
  fc.record({ fault: fc.constant('empty' as const) }),
);
const anyWatchFault: fc.Arbitrary<WatchFault> = fc.oneof(
  fc.record({ fault: fc.constant('error' as const), code: anyCode, afterEvents: few }),
  fc.record({ fault: fc.constant('close' as const), afterEvents: few }),
  fc.record({ fault: fc.constant('freeze' as const), afterEvents: few }),
  fc.record({ fault: fc.constant('replay' as const), events: fc.nat(6) }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ step: fc.constantFrom('put' as const, 'delete' as const), name: anyName }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ step: 'compact' }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('list fault' as const), fault: anyListFault }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('list again' as const), fault: anyListFault }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('watch fault' as const), fault: anyWatchFault }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('time' as const),
      ms: fc.constantFrom(10, SECOND, MINUTE, 11 * MINUTE),
    }),
  },
);

async function survives(steps: readonly Step[]): Promise<void> {
  const { clock, server, store: objects, stop } = await bed(['a', 'b']);
  const lost: string[] = [];
  objects.subscribe({
    removed: ({ metadata }) => {
      if (server.has(metadata.uid)) lost.push(metadata.name);
    },
  });
  for (const step of steps) await take(step, server, clock);
  server.listFaults.length = 0;
  server.watchFaults.length = 0;
  await clock.advance(25 * MINUTE);
  await stop();
  expect(lost).toEqual([]);
  expect(contents(objects.list())).toEqual(contents(server.objects()));
}

async function take(step: Step, server: SmallServer, clock: VirtualClock): Promise<void> {
  switch (step.step) {
    case 'put':
      server.put(step.name);
      break;
    case 'delete':
      server.delete(step.name);
      break;
    case 'compact':
      server.compact();
      break;
    case 'list fault':
      addListFault(server, step.fault);
      break;
    case 'list again':
      server.watchFaults.push({ fault: 'error', code: 'Gone' });
      addListFault(server, step.fault);
      break;
    case 'watch fault':
      server.watchFaults.push(step.fault);
      break;
    case 'time':
      await clock.advance(step.ms);
      break;
  }
  await settle();
}

/** That there is nothing is asked twice: whoever lies twice in a row is believed. */
function addListFault({ listFaults }: SmallServer, fault: ListFault): void {
  const again = fault.fault === 'empty' && listFaults.at(-1)?.fault === 'empty';
  if (!again) listFaults.push(fault);
}

function times<const T>(count: number, thing: T): T[] {
  return Array.from({ length: count }, () => thing);
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `thing-${index}`);
}
