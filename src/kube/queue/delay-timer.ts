/** One timer for all keys that are due later, after a delay or at a time of the wall clock. */
import type { Clock } from '../../os/clock.ts';
import { createDelayHeap } from './delay-heap.ts';

export interface DelayTimer {
  after(key: string, ms: number): void;
  at(key: string, time: Date): void;
  clear(): void;
}

// The wall clock is checked at least this often: timers do not run while a machine sleeps, and the clock may be set.
// Also the longest that one timer runs.
const MAX_TIMER_MS = 60_000;

export function createDelayTimer(clock: Clock, onDue: (keys: readonly string[]) => void): DelayTimer {
  const byDelay = createDelayHeap();
  const byWall = createDelayHeap();
  let armed: { readonly dueMs: number; readonly cancel: AbortController } | undefined;

  return {
    after: (key, ms) => {
      if (byDelay.put(key, clock.monotonicMs() + ms)) arm();
    },
    at: (key, time) => {
      if (byWall.put(key, time.getTime())) arm();
    },
    clear: () => {
      byDelay.clear();
      byWall.clear();
      disarm();
    },
  };

  function arm(): void {
    const nowMs = clock.monotonicMs();
    const delayMs = (byDelay.nextMs() ?? Infinity) - nowMs;
    const wallMs = (byWall.nextMs() ?? Infinity) - clock.now().getTime();
    const nextMs = Math.min(delayMs, wallMs);
    if (nextMs === Infinity) return;
    const sleepMs = Math.min(Math.max(1, nextMs), MAX_TIMER_MS);
    if (armed && armed.dueMs <= nowMs + sleepMs) return;
    disarm();
    void sleep(nowMs + sleepMs, sleepMs);
  }

  async function sleep(dueMs: number, ms: number): Promise<void> {
    const cancel = new AbortController();
    armed = { dueMs, cancel };
    try {
      await clock.sleep(ms, cancel.signal);
    } catch {
      return; // Cancelled: another timer runs, or none is needed.
    }
    armed = undefined;
    const due = [...byDelay.takeDue(clock.monotonicMs()), ...byWall.takeDue(clock.now().getTime())];
    if (due.length > 0) onDue(due.map(({ key }) => key));
    arm();
  }

  function disarm(): void {
    armed?.cancel.abort();
    armed = undefined;
  }
}
