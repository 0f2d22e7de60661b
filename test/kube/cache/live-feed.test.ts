import { expect, it } from 'vitest';
import { createLiveFeed, type FeedParts, type LiveFeed } from '../../../src/kube/cache/live-feed.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const NODES = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };

interface TestFeed {
  readonly feed: LiveFeed<string>;
  readonly parts: readonly FeedParts[];
}

function feedWith(error: KubeError | undefined): TestFeed {
  const parts: FeedParts[] = [];
  const reflector = {
    run: done,
    synced: done,
    freshness: () => ({ synced: true, lastContactAt: undefined, ageMs: 0, error }),
    retryNow: nothing,
  };
  const view = { resource: NODES, store: { subscribe: () => nothing }, reflector };
  const feed = createLiveFeed({ client: {} as never, clock: createSystemClock() }, (each) => {
    parts.push(each);
    return { views: [view], current: () => 'state', work };
  });
  return { feed, parts };
}

async function done(): Promise<void> {}

function nothing(): void {}

async function work(_signal: AbortSignal, notify: () => void): Promise<void> {
  notify();
}

it('tells that the server cannot be read, with the error, and that it retries', () => {
  const { feed } = feedWith(new KubeError('Unreachable', 'connect refused'));
  expect(feed.staleReason()).toBe('retrying, with the last state that was read: connect refused');
  expect(feedWith(undefined).feed.staleReason()).toBeUndefined();
});

it('notifies of a watch that failed or recovered, and of its own work', async () => {
  const { feed, parts } = feedWith(undefined);
  let changes = 0;
  feed.subscribe(() => void (changes += 1));
  for (const { log, recovered } of parts) {
    log.with({}).warn('watch failed');
    recovered();
  }
  expect(changes).toBe(2);
  await feed.run(AbortSignal.abort());
  expect(changes).toBe(3);
});
