import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/os/system-clock.ts';

const clock = createSystemClock();
const DAY_MS = 86_400_000;

describe('createSystemClock', () => {
  it('sleeps at least for the given time', async () => {
    const start = clock.monotonicMs();
    await clock.sleep(20);
    // Timers of Node may fire within the millisecond before.
    expect(clock.monotonicMs() - start).toBeGreaterThanOrEqual(19);
  });

  it('does not wait for a delay of zero or less', async () => {
    await clock.sleep(0);
    await expect(clock.sleep(-5)).resolves.toBeUndefined();
  });

  // A timer of Node takes 24.8 days at most and fires at once for more.
  it('sleeps longer than the maximum of a Node timer', async () => {
    const giveUp = new AbortController();
    const sleeping = clock.sleep(60 * DAY_MS, giveUp.signal).then(
      () => 'awake',
      (reason: unknown) => reason,
    );
    const first = await Promise.race([sleeping, clock.sleep(20).then(() => 'still asleep')]);
    giveUp.abort('enough');
    expect([first, await sleeping]).toEqual(['still asleep', 'enough']);
  });

  it("rejects with the signal's own reason, even when it was aborted before", async () => {
    const reason = new Error('shutting down');
    await expect(clock.sleep(1000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const giveUp = new AbortController();
    const sleeping = clock.sleep(DAY_MS, giveUp.signal);
    giveUp.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});
