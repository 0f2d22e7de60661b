/** A clock for code that waits for a cloud: waits take a hundredth of their time, and the date is that of the system. */
import { setTimeout as sleepReal } from 'node:timers/promises';
import type { Clock } from '../../src/os/clock.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';

const FACTOR = 100;

export function createFastClock(): Clock {
  const system = createSystemClock();
  return {
    now: () => system.now(),
    monotonicMs: () => system.monotonicMs() * FACTOR,
    async sleep(ms, signal) {
      try {
        await sleepReal(ms / FACTOR, undefined, signal ? { signal } : {});
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      }
    },
  };
}
