/** The only file that reads the system clock. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from './clock.ts';

// setTimeout fires at once for delays above 2^31-1 ms.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep,
  };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let left = Math.max(0, ms);
  do {
    const part = Math.min(left, LONGEST_TIMER_MS);
    await waitOnce(part, signal);
    left -= part;
  } while (left > 0);
}

async function waitOnce(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    // node:timers rejects with its own AbortError; Clock promises the signal's reason.
    throw signal?.aborted ? signal.reason : error;
  }
}
