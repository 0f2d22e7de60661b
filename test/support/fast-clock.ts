/**
 * A clock for code that waits for a cloud, or for an answer. A wait takes a hundredth of its time, and only waits move the clock: a busy
 * machine brings no deadline nearer. The date is that of the system.
 */
import { setTimeout as sleepReal } from 'node:timers/promises';
import type { Clock } from '../../src/os/clock.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';

const FACTOR = 100;

export function createFastClock(): Clock {
  const system = createSystemClock();
  let passedMs = 0;
  return {
    now: () => system.now(),
    monotonicMs: () => passedMs,
    async sleep(ms, signal) {
      const endMs = passedMs + ms;
      try {
        await sleepReal(ms / FACTOR, undefined, signal ? { signal } : {});
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      }
      passedMs = Math.max(passedMs, endMs);
    },
  };
}
