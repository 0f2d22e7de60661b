/** One timer for all keys that are due later, by time that passes or by a moment of the wall clock. */
import type { Clock } from '../../os/clock.ts';
import { createDelayHeap } from './delay-heap.ts';

export interface DelayTimer {
  after(key: string, ms: number): void;
  at(key: string, moment: Date): void;
  clear(): void;
}

// Wall-clock moments are looked at this often at least: timers do not run while a machine sleeps, and the wall
// clock may be set. Also the longest that one timer runs.
const LOOK_AT_WALL_MS = 60_000;

export function createDelayTimer(clock: Clock, ring: (keys: readonly string[]) => void): DelayTimer {
  const byTime = createDelayHeap();
  const byWall = createDelayHeap();
  let armed: { readonly dueMs: number; readonly cancel: AbortController } | undefined;

  return {
    after: (key, ms) => {
      if (byTime.put(key, clock.monotonicMs() + ms)) arm();
    },
    at: (key, moment) => {
      if (byWall.put(key, moment.getTime())) arm();
    },
    clear: () => {
      byTime.clear();
      byWall.clear();
      disarm();
    },
  };

  function arm(): void {
    const nowMs = clock.monotonicMs();
    const timeMs = (byTime.nextMs() ?? Infinity) - nowMs;
    const wallMs = (byWall.nextMs() ?? Infinity) - clock.now().getTime();
    const nextMs = Math.min(timeMs, wallMs);
    if (nextMs === Infinity) return;
    const sleepMs = Math.min(Math.max(1, nextMs), LOOK_AT_WALL_MS);
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
      return; // Disarmed: another timer runs, or none is needed.
    }
    armed = undefined;
    const due = [...byTime.takeDue(clock.monotonicMs()), ...byWall.takeDue(clock.now().getTime())];
    if (due.length > 0) ring(due.map(({ key }) => key));
    arm();
  }

  function disarm(): void {
    armed?.cancel.abort();
    armed = undefined;
  }
}
