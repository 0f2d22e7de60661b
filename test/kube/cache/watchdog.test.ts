import { describe, expect, it } from 'vitest';
import { createWatchdog, type Watchdog } from '../../../src/kube/cache/watchdog.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

describe('createWatchdog', () => {
  it('aborts as silent after the time without an event', async () => {
    const { clock, watchdog } = start();
    await clock.advance(90);
    watchdog.reset();
    await clock.advance(99);
    expect(watchdog.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(watchdog.signal.aborted).toBe(true);
    expect(watchdog.endedBecause()).toBe('silent');
  });

  it('aborts as overdue after the longest duration, whatever arrives', async () => {
    const { clock, watchdog } = start();
    for (let ms = 0; ms < 1000; ms += 50) {
      watchdog.reset();
      await clock.advance(50);
    }
    expect(watchdog.endedBecause()).toBe('overdue');
  });

  it("aborts with the caller's reason, and did not end the watch itself", () => {
    const outer = new AbortController();
    const { watchdog } = start(outer.signal);
    outer.abort(new Error('enough'));
    expect(watchdog.signal.reason).toEqual(new Error('enough'));
    expect(watchdog.endedBecause()).toBeUndefined();
  });

  it('leaves no timer after stop', async () => {
    const { clock, watchdog } = start();
    watchdog.stop();
    await clock.advance(0);
    expect(clock.sleepers).toBe(0);
    expect(watchdog.endedBecause()).toBeUndefined();
  });
});

function start(outer = new AbortController().signal): { clock: VirtualClock; watchdog: Watchdog } {
  const clock = virtualClock();
  return { clock, watchdog: createWatchdog({ clock, outer, silenceMs: () => 100, longestMs: 1000 }) };
}
