import { describe, expect, it } from 'vitest';
import { createWatchHold, LONGEST_HOLD_MS } from '../../../src/kube/cache/watch-hold.ts';
import { createReflectorBed, MINUTE } from '../../support/kube/reflector-bed.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

const NEVER = new AbortController().signal;

/** A watch that runs until its signal. */
async function untilClosed(signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => reject(new Error('closed')), { once: true });
  await promise;
}

async function cutOff(): Promise<void> {
  throw new Error('cut off');
}

describe('createWatchHold', () => {
  it('ends the watch that runs, and runs the next one only after its release', async () => {
    const hold = createWatchHold(virtualClock());
    const running = hold.run(untilClosed, NEVER);
    const release = hold.hold();
    expect(await running).toBe('Held');
    let runs = 0;
    const next = hold.run(async () => void (runs += 1), NEVER);
    await settle();
    expect(runs).toBe(0);
    release();
    expect(await next).toBe('Ended');
    expect(runs).toBe(1);
  });

  it('ends by itself before an API server forgets the events of 75 s, and a late release ends no later hold', async () => {
    const clock = virtualClock();
    const hold = createWatchHold(clock);
    const late = hold.hold();
    let runs = 0;
    const next = hold.run(async () => void (runs += 1), NEVER);
    await clock.advance(LONGEST_HOLD_MS);
    await next;
    expect([runs, LONGEST_HOLD_MS < 75_000]).toEqual([1, true]);
    hold.hold();
    late();
    const held = hold.run(async () => void (runs += 1), NEVER);
    await settle();
    expect(runs).toBe(1);
    await clock.advance(LONGEST_HOLD_MS);
    await held;
  });

  it('passes on the error of a watch, and ends with the signal while it is held back', async () => {
    const hold = createWatchHold(virtualClock());
    await expect(hold.run(cutOff, NEVER)).rejects.toThrow('cut off');
    hold.hold();
    const closing = new AbortController();
    const waiting = hold.run(untilClosed, closing.signal);
    closing.abort(new Error('the process ends'));
    await expect(waiting).rejects.toThrow('the process ends');
  });
});

describe('a reflector whose watch is held back', () => {
  it('goes on where it ended, without a list, and misses nothing', async () => {
    const { server, reflector, changes, store, restarts } = await createReflectorBed(['a', 'b']);
    const release = reflector.holdWatch();
    await settle();
    server.put('c');
    server.delete('b');
    await settle();
    expect(changes).toEqual(['+a', '+b']);
    expect(reflector.freshness()).toMatchObject({ synced: true, error: undefined });
    release();
    await settle();
    expect(changes).toEqual(['+a', '+b', '+c', '-b']);
    expect(store.size).toBe(2);
    expect(server.requests).toEqual(['list 500', 'watch 102', 'watch 102']);
    expect(restarts).toEqual([]);
  });

  it('goes on by itself after a minute, and ends while it is held back', async () => {
    const { clock, server, reflector, changes, stop } = await createReflectorBed(['a']);
    reflector.holdWatch();
    await settle();
    server.put('b');
    await clock.advance(MINUTE);
    await settle();
    expect(changes).toEqual(['+a', '+b']);
    reflector.holdWatch();
    await settle();
    await stop();
    expect(server.requests).toEqual(['list 500', 'watch 101', 'watch 101']);
  });
});
