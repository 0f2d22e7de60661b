/** Ends what has been silent, or has gone on, for too long. */
import type { Clock } from '../../os/clock.ts';

export interface WatchdogOptions {
  readonly clock: Clock;
  /** Ends it too. */
  readonly outer: AbortSignal;
  /** How long nothing may be heard; asked anew each time, because it may change. */
  readonly silenceMs: () => number;
  /** How long it may go on at all. */
  readonly longestMs: number;
}

export interface Watchdog {
  readonly signal: AbortSignal;
  heard(): void;
  /** Why it ended, when the watchdog ended it. */
  endedBecause(): 'silent' | 'overdue' | undefined;
  /** Must be called in the end. */
  stop(): void;
}

export function createWatchdog({ clock, outer, silenceMs, longestMs }: WatchdogOptions): Watchdog {
  const bite = new AbortController();
  const leash = new AbortController();
  const endMs = clock.monotonicMs() + longestMs;
  let heardMs = clock.monotonicMs();
  let why: 'silent' | 'overdue' | undefined;
  const pass = (): void => bite.abort(outer.reason);
  if (outer.aborted) pass();
  else outer.addEventListener('abort', pass, { once: true });
  guard().catch(() => {}); // the leash: `stop` ends its sleep

  return {
    signal: bite.signal,
    heard: () => {
      heardMs = clock.monotonicMs();
    },
    endedBecause: () => why,
    stop: () => {
      outer.removeEventListener('abort', pass);
      leash.abort();
    },
  };

  async function guard(): Promise<void> {
    for (let left = leftMs(); left > 0; left = leftMs()) await clock.sleep(left, leash.signal);
    why = clock.monotonicMs() >= endMs ? 'overdue' : 'silent';
    bite.abort(new Error(`the watch is ${why}`));
  }

  function leftMs(): number {
    return Math.min(heardMs + silenceMs(), endMs) - clock.monotonicMs();
  }
}
