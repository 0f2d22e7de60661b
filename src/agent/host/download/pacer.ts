/** Limits the rate of a download. Time in which nothing arrived is not made up for: that would be a burst. */
import type { Clock } from '../../../os/clock.ts';

export interface Pacer {
  /** Waits until the bytes that arrived may be followed by others. */
  pass(bytes: number, signal?: AbortSignal): Promise<void>;
}

export function createPacer(clock: Pick<Clock, 'monotonicMs' | 'sleep'>, bytesPerSecond: number): Pacer {
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async pass(bytes, signal) {
      const nowMs = clock.monotonicMs();
      nextMs = nextPieceMs(nextMs, nowMs, bytes, bytesPerSecond);
      if (nextMs > nowMs) await clock.sleep(nextMs - nowMs, signal);
    },
  };
}

/** Returns the time at which the piece after one of `bytes` may be read. */
export function nextPieceMs(dueMs: number, nowMs: number, bytes: number, bytesPerSecond: number): number {
  return Math.max(dueMs, nowMs) + (bytes / bytesPerSecond) * 1000;
}
