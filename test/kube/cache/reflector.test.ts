import { describe, expect, it } from 'vitest';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { contents, createReflectorBed, MINUTE, SECOND, WATCH_MS } from '../../support/kube/reflector-bed.ts';
import type { ListFault } from '../../support/kube/small-server.ts';
import { settle } from '../../support/virtual-clock.ts';

describe('createReflector', () => {
  it('lists, then watches', async () => {
    const { server, changes, store } = await createReflectorBed(['a', 'b']);
    expect(store.hasSynced()).toBe(true);
    server.put('c');
    server.put('a');
    server.delete('b');
    await settle();
    expect(changes).toEqual(['+a', '+b', '+c', '~a', '-b']);
    expect(server.requests).toEqual(['list 500', 'watch 102']);
  });

  it('resumes the watch without a list when the server ends it', async () => {
    const { clock, server, changes, restarts } = await createReflectorBed(['a']);
    server.put('b');
    await clock.advance(11 * MINUTE);
    server.put('c');
    await settle();
    expect(changes).toEqual(['+a', '+b', '+c']);
    expect(server.requests).toEqual(['list 500', 'watch 101', 'watch 102']);
    expect(restarts).toEqual(['Thing Closed']);
  });

  it('uses bookmarks, so that a kind without changes needs no list after a compaction', async () => {
    const { clock, server } = await createReflectorBed(['a']);
    // Changes of other store send no event here: only a bookmark reports the revision.
    server.elsewhere(50);
    await clock.advance(2 * MINUTE);
    server.compact();
    await clock.advance(2 * WATCH_MS);
    expect(server.requests).toEqual(['list 500', 'watch 101', 'watch 151', 'watch 151']);
  });

  it('lists again when its resourceVersion is too old, and reports missed deletions', async () => {
    const { clock, server, changes } = await createReflectorBed(['a', 'b'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'error', code: 'Unreachable' });
    });
    server.delete('a');
    server.put('c');
    server.compact();
    await clock.advance(30 * SECOND);
    expect(changes).toEqual(['+a', '+b', '?a', '+c']);
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(2);
  });

  it('reports a recreated object as deleted and added', async () => {
    const { clock, server, changes } = await createReflectorBed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Gone' });
    });
    server.delete('a');
    server.put('a');
    await clock.advance(30 * SECOND);
    expect(changes).toEqual(['+a', '?a', '+a']);
  });

  it.each<KubeErrorCode>([
    'Unreachable',
    'ServerError',
    'Timeout',
    'Unauthorized',
    'Forbidden',
    'BadAnswer',
    'Invalid',
  ])('keeps its store while lists and watches fail with %s, and reports the error', async (code) => {
    const { clock, server, store, reflector } = await createReflectorBed(['a']);
    server.watchFaults.push(...times(10, { fault: 'error', code }));
    server.listFaults.push(...times(10, { fault: 'error', code }));
    await clock.advance(WATCH_MS + MINUTE);
    expect(store.get('a')).toBeDefined();
    expect(reflector.freshness()).toMatchObject({ synced: true, error: { code } });
    await clock.advance(10 * MINUTE);
    expect(reflector.freshness().error).toBeUndefined();
    expect(reflector.freshness().ageMs).toBeLessThan(2 * MINUTE);
  });

  it('reports once when the server can be read, initially and after errors', async () => {
    const { clock, server, recoveries } = await createReflectorBed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'error', code: 'Unreachable' });
    });
    expect(recoveries).toEqual([0]);
    await clock.advance(30 * SECOND);
    server.put('b');
    await clock.advance(20 * MINUTE);
    expect(recoveries).toHaveLength(2);
  });

  it('does not list again after the server was down', async () => {
    const { clock, server } = await createReflectorBed(['a']);
    server.watchFaults.push(...times(20, { fault: 'error', code: 'Unreachable' }));
    await clock.advance(30 * MINUTE);
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(1);
  });

  it('lists after several timeouts, because the server may never reach its resourceVersion', async () => {
    const { clock, server } = await createReflectorBed(['a']);
    server.watchFaults.push(...times(5, { fault: 'error', code: 'Timeout' }));
    await clock.advance(20 * MINUTE);
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(2);
  });

  it('backs off after each error, respects Retry-After, and resets after a stable time', async () => {
    const { clock, server } = await createReflectorBed([], ({ listFaults }) => {
      listFaults.push({ fault: 'error', code: 'ServerError' }, { fault: 'error', code: 'ServerError' });
      listFaults.push({ fault: 'error', code: 'TooManyRequests', retryAfterSeconds: 20 });
    });
    const waits: number[] = [];
    let lists = 1;
    for (let ms = 0; ms < 60 * SECOND; ms += 100) {
      await clock.advance(100);
      const now = server.requests.filter((line) => line.startsWith('list')).length;
      if (now > lists) waits.push(ms + 100);
      lists = now;
    }
    // 0.75 × 0.8 s, 0.75 × 1.6 s, and 20 s plus five percent.
    expect(waits).toEqual([600, 1800, 22_800]);
  });

  it('backs off from a server that closes each watch at once', async () => {
    const { clock, server } = await createReflectorBed(['a']);
    server.watchFaults.push(...times(1000, { fault: 'close' }));
    const before = server.requests.length;
    await clock.advance(20 * MINUTE);
    expect(server.requests.length - before).toBeLessThan(60);
  });

  it('ends a silent watch of a server that sends bookmarks', async () => {
    const { clock, server, changes, restarts } = await createReflectorBed(['a']);
    await clock.advance(2 * MINUTE);
    server.watchFaults.push({ fault: 'freeze' });
    await clock.advance(10 * MINUTE);
    server.put('b');
    await clock.advance(4 * MINUTE);
    expect(changes).toEqual(['+a', '+b']);
    expect(restarts).toContain('Thing Timeout');
  });

  it('ends a watch that the server did not end in time, even without bookmarks', async () => {
    const { clock, server, changes, restarts } = await createReflectorBed(['a'], (prepared) => {
      prepared.bookmarks = false;
      prepared.watchFaults.push({ fault: 'freeze' });
    });
    server.put('b');
    await clock.advance(8 * MINUTE);
    expect(changes).toEqual(['+a', '+b']);
    expect(restarts).toEqual(['Thing Closed']);
  });

  it('reports its age', async () => {
    const { clock, server, reflector } = await createReflectorBed(['a']);
    expect(reflector.freshness()).toMatchObject({ synced: true, lastContactAt: clock.now() });
    await clock.advance(30 * SECOND);
    expect(reflector.freshness().ageMs).toBe(30 * SECOND);
    server.put('b');
    await settle();
    expect(reflector.freshness().ageMs).toBe(0);
  });

  it('is not synced before the initial list is complete', async () => {
    const fault: ListFault = { fault: 'error', code: 'Unreachable', afterPages: 1 };
    const { clock, reflector, store } = await createReflectorBed(many(600), ({ listFaults }) =>
      listFaults.push(fault),
    );
    expect(reflector.freshness()).toMatchObject({
      synced: false,
      lastContactAt: undefined,
      ageMs: Number.POSITIVE_INFINITY,
    });
    expect(store.size).toBe(0);
    const impatient = new AbortController();
    const waiting = reflector.synced(impatient.signal).catch((error: unknown) => error);
    impatient.abort(new Error('no time'));
    expect(await waiting).toEqual(new Error('no time'));
    await clock.advance(5 * SECOND);
    await reflector.synced();
    expect(store.size).toBe(600);
  });

  it('uses fewer, larger pages when the continue token expires', async () => {
    const { clock, server, store } = await createReflectorBed(many(1200), ({ listFaults }) => {
      listFaults.push(
        { fault: 'error', code: 'Gone', afterPages: 1 },
        { fault: 'error', code: 'Gone', afterPages: 0 },
      );
    });
    await clock.advance(30 * SECOND);
    expect(server.requests.slice(0, 3)).toEqual(['list 500', 'list 2000', 'list 8000']);
    expect(store.size).toBe(1200);
  });

  it('keeps an object that was written after the list started and is not in it', async () => {
    const { clock, server, store } = await createReflectorBed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Gone' });
    });
    store.put(server.put('written'));
    server.listFaults.push({ fault: 'old', revisions: 1 });
    await clock.advance(SECOND);
    expect(server.requests).toEqual(['list 500', 'watch 101', 'list 500', 'watch 101']);
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'written']);
  });

  it('rejects an old list', async () => {
    const { clock, server, changes, reflector } = await createReflectorBed(['a']);
    server.put('b');
    server.put('c');
    await settle();
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    server.listFaults.push(...times(5, { fault: 'old', revisions: 2 }));
    await clock.advance(WATCH_MS + 5 * SECOND);
    expect(changes).toEqual(['+a', '+b', '+c']);
    expect(reflector.freshness().error).toMatchObject({ code: 'BadAnswer' });
    await clock.advance(5 * MINUTE);
    expect(reflector.freshness().error).toBeUndefined();
    expect(changes).toEqual(['+a', '+b', '+c']);
  });

  it('rejects a list that lacks existing store', async () => {
    const { clock, server, changes, reflector } = await createReflectorBed(['a', 'b', 'c']);
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    server.listFaults.push(...times(6, { fault: 'empty' }));
    await clock.advance(WATCH_MS + 5 * SECOND);
    expect(reflector.freshness().error).toMatchObject({ code: 'BadAnswer' });
    await clock.advance(MINUTE);
    expect(reflector.freshness().error).toBeUndefined();
    expect(changes).toEqual(['+a', '+b', '+c']);
  });

  it('reads an empty initial list twice', async () => {
    const { changes } = await createReflectorBed(['a'], ({ listFaults }) =>
      listFaults.push({ fault: 'empty' }),
    );
    expect(changes).toEqual(['+a']);
    const nothing = await createReflectorBed([]);
    expect(nothing.server.requests).toEqual(['list 500', 'list 500', 'watch 100']);
  });

  it('rejects old events', async () => {
    const { clock, server, changes } = await createReflectorBed(['a']);
    server.put('b');
    server.delete('b');
    await settle();
    server.watchFaults.push({ fault: 'replay', events: 2 });
    await clock.advance(12 * MINUTE);
    expect(changes).toEqual(['+a', '+b', '-b']);
  });

  it('keeps the identity of store that a new list finds unchanged', async () => {
    const { clock, server, store } = await createReflectorBed(['a', 'b']);
    const before = store.get('a');
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    await clock.advance(11 * MINUTE);
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(2);
    expect(store.get('a')).toBe(before);
  });

  it('lists after events out of order, because others may have been skipped', async () => {
    const { clock, server, store, restarts } = await createReflectorBed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'replay', events: 1 });
    });
    server.put('b');
    server.put('c');
    await clock.advance(MINUTE);
    expect(contents(store.list())).toEqual(contents(server.objects()));
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(2);
    expect(restarts).toEqual(['Thing Unreachable', 'Thing BadAnswer']);
  });

  it('ends with its signal while watching and while waiting', async () => {
    const watching = await createReflectorBed(['a']);
    await watching.stop();
    const waiting = await createReflectorBed([], ({ listFaults }) =>
      listFaults.push({ fault: 'error', code: 'Unreachable' }),
    );
    await waiting.stop();
    expect([watching.clock.sleepers, waiting.clock.sleepers]).toEqual([0, 0]);
  });
});

function times<const T>(count: number, thing: T): T[] {
  return Array.from({ length: count }, () => thing);
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `thing-${index}`);
}
