/** Aborts a watch that has been silent, or has lasted, for too long. */
import type { Clock } from '../../os/clock.ts';

export interface WatchdogOptions {
  readonly clock: Clock;
  /** The caller's signal; aborts the watch as well. */
  readonly outer: AbortSignal;
  /** The longest time without an event. Evaluated each time, because it may change. */
  readonly silenceMs: () => number;
  /** The longest duration of the watch. */
  readonly longestMs: number;
}

export interface Watchdog {
  readonly signal: AbortSignal;
  /** Restarts the time without an event. */
  reset(): void;
  /** Why the watchdog ended the watch; undefined when it did not. */
  endedBecause(): 'silent' | 'overdue' | undefined;
  /** Must be called when the watch has ended. */
  stop(): void;
}

export function createWatchdog({ clock, outer, silenceMs, longestMs }: WatchdogOptions): Watchdog {
  const watch = new AbortController();
  const cancelTimer = new AbortController();
  const endMs = clock.monotonicMs() + longestMs;
  let lastEventMs = clock.monotonicMs();
  let because: 'silent' | 'overdue' | undefined;
  const forwardAbort = (): void => watch.abort(outer.reason);
  if (outer.aborted) forwardAbort();
  else outer.addEventListener('abort', forwardAbort, { once: true });
  runTimer().catch(() => {}); // `stop` cancels its sleep

  return {
    signal: watch.signal,
    reset: () => {
      lastEventMs = clock.monotonicMs();
    },
    endedBecause: () => because,
    stop: () => {
      outer.removeEventListener('abort', forwardAbort);
      cancelTimer.abort();
    },
  };

  async function runTimer(): Promise<void> {
    for (let left = leftMs(); left > 0; left = leftMs()) await clock.sleep(left, cancelTimer.signal);
    because = clock.monotonicMs() >= endMs ? 'overdue' : 'silent';
    watch.abort(new Error(`the watch is ${because}`));
  }

  function leftMs(): number {
    return Math.min(lastEventMs + silenceMs(), endMs) - clock.monotonicMs();
  }
}
