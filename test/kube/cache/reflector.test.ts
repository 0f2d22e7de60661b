import { describe, expect, it } from 'vitest';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { bed, contents, MINUTE, SECOND, WATCH_MS } from '../../support/kube/reflector-bed.ts';
import type { ListFault } from '../../support/kube/small-server.ts';
import { settle } from '../../support/virtual-clock.ts';

describe('createReflector', () => {
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

  it('says once that the server can be read: at first, and after errors', async () => {
    const { clock, server, recoveries } = await bed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Unreachable' }, { fault: 'error', code: 'Unreachable' });
    });
    expect(recoveries).toEqual([0]);
    await clock.advance(30 * SECOND);
    server.put('b');
    await clock.advance(20 * MINUTE);
    expect(recoveries).toHaveLength(2);
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

  it('keeps an object that was written after the list began, and is not in it', async () => {
    const {
      clock,
      server,
      store: objects,
    } = await bed(['a'], ({ watchFaults }) => {
      watchFaults.push({ fault: 'error', code: 'Gone' });
    });
    objects.put(server.put('written'));
    server.listFaults.push({ fault: 'old', revisions: 1 });
    await clock.advance(SECOND);
    expect(server.asked).toEqual(['list 500', 'watch 101', 'list 500', 'watch 101']);
    expect(objects.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'written']);
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
});

function times<const T>(count: number, thing: T): T[] {
  return Array.from({ length: count }, () => thing);
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `thing-${index}`);
}
