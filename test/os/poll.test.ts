import { describe, expect, it } from 'vitest';
import { pollUntil } from '../../src/os/poll.ts';
import { virtualClock } from '../support/virtual-clock.ts';

describe('pollUntil', () => {
  it('repeats the check until it is done', async () => {
    const clock = virtualClock();
    let checks = 0;
    const done = pollUntil(() => (checks += 1) === 3, { clock, everyMs: 10, deadlineMs: 100 });
    await clock.advance(20);
    expect(await done).toBe(true);
    expect(checks).toBe(3);
  });

  it('is false once the deadline has passed, after at least one check', async () => {
    const clock = virtualClock();
    let checks = 0;
    const isDone = (): boolean => {
      checks += 1;
      return false;
    };
    const done = pollUntil(isDone, { clock, everyMs: 10, deadlineMs: 25 });
    await clock.advance(30);
    expect(await done).toBe(false);
    expect(checks).toBe(4);
    expect(await pollUntil(isDone, { clock, everyMs: 10, deadlineMs: 0 })).toBe(false);
    expect(checks).toBe(5);
  });

  it("rejects with the check's error and with the signal's reason", async () => {
    const clock = virtualClock();
    const options = { clock, everyMs: 10, deadlineMs: 100 };
    await expect(pollUntil(() => Promise.reject(new Error('broken')), options)).rejects.toThrow('broken');
    const stop = new AbortController();
    const waiting = pollUntil(() => false, { ...options, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
