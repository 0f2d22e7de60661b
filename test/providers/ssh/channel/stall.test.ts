import { describe, expect, it } from 'vitest';
import { withStallLimit } from '../../../../src/providers/ssh/channel/stall.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

describe('withStallLimit', () => {
  it('ends work that makes no progress, and lets work go on that does', async () => {
    const clock = virtualClock();
    const limit = {
      clock,
      ms: 1000,
      signal: new AbortController().signal,
      expired: () => new Error('it hangs'),
    };
    const advance: (() => void)[] = [];
    const working = withStallLimit(limit, (signal, progress) => {
      advance.push(progress);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('an error of the aborted work')));
      });
    });
    const ended = working.catch((error: unknown) => error);
    for (let part = 0; part < 5; part += 1) {
      await clock.advance(900);
      advance[0]?.();
    }
    await clock.advance(999);
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    await clock.advance(0);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(await ended).toEqual(new Error('it hangs'));
  });

  it('passes on a result and an error', async () => {
    const clock = virtualClock();
    const limit = { clock, ms: 1, signal: new AbortController().signal, expired: () => new Error('x') };
    expect(await withStallLimit(limit, () => Promise.resolve(1))).toBe(1);
    await expect(withStallLimit(limit, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
  });
});
