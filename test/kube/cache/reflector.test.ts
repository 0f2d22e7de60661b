import { describe, expect, it } from 'vitest';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { createReflectorBed, MINUTE, SECOND, WATCH_MS } from '../../support/kube/reflector-bed.ts';
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

  it('AGT-02 returns to a server that was lost at a random time, with a list instead of a watch that is too old', async () => {
    const lost = { fault: 'error', code: 'Unreachable' } as const;
    const { clock, server, restarts } = await createReflectorBed(
      ['a'],
      ({ watchFaults }) => void watchFaults.push(lost),
      { reconnectSpreadMs: 60 * SECOND, random: () => 0.4 },
    );
    server.listFaults.push(lost);
    expect(server.requests).toEqual(['list 500', 'watch 101']);
    await clock.advance(23 * SECOND);
    expect(server.requests).toHaveLength(2);
    await clock.advance(2 * SECOND);
    expect(server.requests.slice(2)).toEqual(['list 500']);
    // It failed: another random part of the whole time, not twice as long.
    await clock.advance(24 * SECOND);
    expect(server.requests.slice(3)).toEqual(['list 500', 'watch 101']);
    expect(restarts).toEqual(['Thing Unreachable']);
  });

  it('waits for no spread before its first list, and after an answer that its version is too old', async () => {
    const { clock, server } = await createReflectorBed(
      ['a'],
      ({ watchFaults, listFaults }) => {
        listFaults.push({ fault: 'error', code: 'Unreachable' });
        watchFaults.push({ fault: 'error', code: 'Gone' });
      },
      { reconnectSpreadMs: 60 * SECOND },
    );
    await clock.advance(3 * SECOND);
    expect(server.requests).toEqual(['list 500', 'list 500', 'watch 101', 'list 500', 'watch 101']);
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
  ])('keeps its objects while lists and watches fail with %s, and reports the error', async (code) => {
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

  it('ends its wait when the server is known to answer, and waits again after the next error', async () => {
    const { clock, server, store, reflector } = await createReflectorBed(['a'], ({ watchFaults }) =>
      watchFaults.push(...times(7, { fault: 'error', code: 'Unreachable' })),
    );
    await clock.advance(30 * SECOND);
    server.put('b');
    reflector.retryNow();
    await settle();
    expect(store.get('b')).toBeUndefined();
    reflector.retryNow();
    await settle();
    expect(store.get('b')).toBeDefined();
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
