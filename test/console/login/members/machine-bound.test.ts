import { describe, expect, it } from 'vitest';
import { CLUSTERS, MACHINES } from '../../../../src/api/generated/resources.ts';
import { type BoundClient, boundMachines } from '../../../../src/console/login/members/machine-bound.ts';
import type { Client, WatchEvent } from '../../../../src/kube/client/client.ts';
import type { Resource } from '../../../../src/kube/objects/object.ts';

const WATCH = { resourceVersion: '1', timeoutSeconds: 1 };

const named = (name: string): object => ({ metadata: { name } });
const event = (type: WatchEvent['type'], name: string): object => ({ type, object: named(name) });

/** A client that answers with these pages and events, and further places of two each. */
function bed(pages: readonly (readonly string[])[], events: readonly object[] = [], further = 0) {
  const state = { further, pagesRead: 0 };
  const inner = {
    async *pages() {
      for (const names of pages) {
        state.pagesRead += 1;
        yield { items: names.map(named) };
      }
    },
    async *watch() {
      yield* events;
    },
  };
  const bound = boundMachines(inner as unknown as Client, {
    held: 3,
    takeMore() {
      if (state.further === 0) return undefined;
      state.further -= 1;
      return 2;
    },
  });
  return { bound, state };
}

async function list({ client }: BoundClient, resource: Resource = MACHINES): Promise<string> {
  return await ended(client.pages(resource));
}

async function ended(parts: AsyncIterable<unknown>): Promise<string> {
  let count = 0;
  try {
    for await (const _ of parts) count += 1;
    return `${count} read`;
  } catch (error) {
    return `${count} read, ${(error as Error).message}`;
  }
}

const FULL = 'it has more than 3 machines, and there are no more places: it is counted again';

describe('boundMachines', () => {
  it('CON-33 ends a list at the first page with too many machines, and tells why', async () => {
    const { bound, state } = bed([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await list(bound)).toBe(`1 read, ${FULL}`);
    expect([state.pagesRead, (bound.exceeded.reason as Error).message]).toEqual([2, FULL]);
  });

  it('CON-33 ends a watch that adds too many machines, and counts none twice', async () => {
    const events = [
      event('MODIFIED', 'a'),
      event('DELETED', 'a'),
      event('BOOKMARK', ''),
      event('ADDED', 'd'),
      event('ADDED', 'e'),
    ];
    const { bound } = bed([['a', 'b', 'c']], events);
    expect([await list(bound), await list(bound)]).toEqual(['1 read', '1 read']);
    expect(bound.exceeded.aborted).toBe(false);
    expect(await ended(bound.client.watch(MACHINES, WATCH))).toBe(`4 read, ${FULL}`);
    expect(bound.exceeded.aborted).toBe(true);
  });

  it('CON-33 takes further places for a cluster that grows, while there are some', async () => {
    const { bound, state } = bed([['a', 'b', 'c', 'd', 'e', 'f']], [], 3);
    expect(await list(bound)).toBe('1 read');
    expect([state.further, bound.exceeded.aborted]).toEqual([1, false]);
  });

  it('counts no objects of other kinds', async () => {
    const { bound } = bed([['a', 'b', 'c', 'd']], [event('ADDED', 'e')]);
    expect(await list(bound, CLUSTERS)).toBe('1 read');
    expect(await ended(bound.client.watch(CLUSTERS, WATCH))).toBe('1 read');
    expect(bound.exceeded.aborted).toBe(false);
  });
});
