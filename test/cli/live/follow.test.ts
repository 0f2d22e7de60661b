import { describe, expect, it } from 'vitest';
import { followLive } from '../../../src/cli/live/follow.ts';
import type { LiveFeed } from '../../../src/kube/cache/live-feed.ts';
import { testIo } from '../../support/test-io.ts';

/** A feed whose states come one after the other, each with the change that announces it. */
function feedOf(states: readonly (string | undefined)[]): LiveFeed<string> & { readonly ended: boolean } {
  const handlers: (() => void)[] = [];
  const left = [...states];
  let ended = false;
  return {
    current() {
      queueMicrotask(() => handlers.forEach((handler) => handler()));
      return left.shift();
    },
    staleReason: () => undefined,
    subscribe: (handler) => void handlers.push(handler),
    async run(signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      ended = true;
    },
    ready: () => Promise.resolve(),
    get ended() {
      return ended;
    },
  };
}

async function follow(states: readonly (string | undefined)[]): Promise<unknown> {
  const shown: string[] = [];
  const feed = feedOf(states);
  const display = { show: (state: string) => void shown.push(state) };
  const end = await followLive(testIo(), feed, display, (state) => (state === 'end' ? 'ended' : undefined));
  return { end, shown, stopped: feed.ended };
}

describe('followLive', () => {
  it('shows each state until one ends it, and stops the watches', async () => {
    expect(await follow(['a', 'b', 'end', 'never'])).toEqual({
      end: 'ended',
      shown: ['a', 'b', 'end'],
      stopped: true,
    });
  });

  it('ends without a result when what is watched was deleted', async () => {
    expect(await follow(['a', undefined])).toEqual({ end: undefined, shown: ['a'], stopped: true });
  });

  it('rejects when it is interrupted while nothing changes, and stops the watches', async () => {
    const io = testIo();
    const feed = { ...feedOf([]), current: () => 'a' };
    const display = { show: () => io.interrupt() };
    await expect(followLive(io, feed, display, () => undefined)).rejects.toThrow('stopped by SIGINT');
  });
});
