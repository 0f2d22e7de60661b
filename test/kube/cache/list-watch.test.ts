import { describe, expect, it } from 'vitest';
import { staleReason } from '../../../src/kube/cache/freshness.ts';
import { NODE_EVENTS } from '../../../src/kube/objects/core-kinds.ts';
import { contents, createReflectorBed, MINUTE, SECOND, WATCH_MS } from '../../support/kube/reflector-bed.ts';
import { settle } from '../../support/virtual-clock.ts';

describe('a list or a watch', () => {
  it('keeps the identity of objects that a new list finds unchanged', async () => {
    const { clock, server, store } = await createReflectorBed(['a', 'b']);
    const before = store.get('a');
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    await clock.advance(11 * MINUTE);
    expect(server.requests.filter((line) => line.startsWith('list'))).toHaveLength(2);
    expect(store.get('a')).toBe(before);
  });

  it('keeps the identity of an object that our own write stored before its event', async () => {
    const { server, store, changes } = await createReflectorBed(['a']);
    const written = server.put('b');
    store.put(written);
    await settle();
    expect(store.get('b')).toBe(written);
    expect(changes).toEqual(['+a', '+b']);
  });

  it('rejects a list that lacks existing objects', async () => {
    const { clock, server, changes, reflector } = await createReflectorBed(['a', 'b', 'c']);
    server.watchFaults.push({ fault: 'error', code: 'Gone' });
    server.listFaults.push(...times(6, { fault: 'empty' }));
    await clock.advance(WATCH_MS + 3 * SECOND);
    expect(reflector.freshness().error).toMatchObject({ code: 'BadAnswer' });
    await clock.advance(MINUTE);
    expect(reflector.freshness().error).toBeUndefined();
    expect(changes).toEqual(['+a', '+b', '+c']);
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

  it('reads an empty initial list twice', async () => {
    const { changes } = await createReflectorBed(['a'], ({ listFaults }) =>
      listFaults.push({ fault: 'empty' }),
    );
    expect(changes).toEqual(['+a']);
    const nothing = await createReflectorBed([]);
    expect(nothing.server.requests).toEqual(['list 500', 'list 500', 'watch 100']);
  });

  it('reads an empty list once when the store is empty and knows it, and twice when it is not', async () => {
    const lost = { fault: 'error', code: 'Gone' } as const;
    const { clock, server } = await createReflectorBed([], ({ watchFaults }) => void watchFaults.push(lost));
    server.requests.length = 0;
    await clock.advance(30 * SECOND);
    expect(server.requests).toEqual(['list 500', 'watch 100']);
    const filled = await createReflectorBed(['a'], ({ watchFaults }) => void watchFaults.push(lost));
    filled.server.requests.length = 0;
    filled.server.listFaults.push({ fault: 'empty' });
    await filled.clock.advance(30 * SECOND);
    expect(filled.server.requests).toEqual(['list 500', 'list 500', 'watch 101']);
    expect(filled.changes).toEqual(['+a']);
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

  it.each(['', 'events.k8s.io'])(
    'has contact with a server that sends no bookmarks before a view is stale: Events of group "%s"',
    async (group) => {
      const resource = { ...NODE_EVENTS, group };
      const { clock, reflector, restarts } = await createReflectorBed(
        ['a'],
        (prepared) => {
          prepared.bookmarks = false;
        },
        { resource, random: () => 0.999 },
      );
      for (let left = 180; left > 0; left -= 1) {
        await clock.advance(10 * SECOND);
        expect(staleReason(reflector.freshness(), 'Event')).toBeUndefined();
      }
      expect(new Set(restarts)).toEqual(new Set(['Event Closed']));
    },
  );

  it('is stale when a server does not end its watches of Events either', async () => {
    const { clock, reflector } = await createReflectorBed(
      ['a'],
      (prepared) => {
        prepared.bookmarks = false;
        prepared.watchFaults.push(...times(20, { fault: 'freeze' }));
      },
      { resource: NODE_EVENTS },
    );
    await clock.advance(4 * MINUTE);
    expect(staleReason(reflector.freshness(), 'Event')).toBe(
      'Event: no contact with the API server for 240 s',
    );
  });

  it('backs off from a server that closes each watch at once', async () => {
    const { clock, server } = await createReflectorBed(['a']);
    server.watchFaults.push(...times(1000, { fault: 'close' }));
    const before = server.requests.length;
    await clock.advance(20 * MINUTE);
    expect(server.requests.length - before).toBeLessThan(60);
  });
});

function times<const T>(count: number, thing: T): T[] {
  return Array.from({ length: count }, () => thing);
}

function many(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `thing-${index}`);
}
