import { expect, it } from 'vitest';
import { NOT_READ_YET, withFirstState } from '../../../src/console/feeds/first-state.ts';
import type { LiveFeed } from '../../../src/kube/cache/live-feed.ts';

interface Bed {
  readonly feed: LiveFeed<string>;
  readonly ready: PromiseWithResolvers<void>;
  setStale: (reason: string) => void;
}

function bed(): Bed {
  const ready = Promise.withResolvers<void>();
  let stale: string | undefined;
  return {
    ready,
    setStale: (reason) => void (stale = reason),
    feed: {
      current: () => 'state',
      staleReason: () => stale,
      subscribe: () => undefined,
      run: () => Promise.resolve(),
      ready: () => ready.promise,
    },
  };
}

it('CON-06 is not read until the first state is complete, and notifies then', async () => {
  const { feed, ready } = bed();
  const marked = withFirstState(feed);
  let changes = 0;
  marked.subscribe(() => (changes += 1));
  const running = marked.run(AbortSignal.abort());
  expect([marked.staleReason(), marked.current(), changes]).toEqual([NOT_READ_YET, 'state', 0]);
  ready.resolve();
  await running;
  expect([marked.staleReason(), changes]).toEqual([undefined, 1]);
});

it('explains first why the server cannot be read', () => {
  const { feed, setStale } = bed();
  setStale('connection refused');
  expect(withFirstState(feed).staleReason()).toBe('connection refused');
});

it('stays not read when it ends before its first state', async () => {
  const { feed, ready } = bed();
  const marked = withFirstState(feed);
  const running = marked.run(AbortSignal.abort());
  ready.reject(new Error('aborted'));
  await running;
  expect(marked.staleReason()).toBe(NOT_READ_YET);
});
