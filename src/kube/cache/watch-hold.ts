/**
 * Holds a watch back while this process writes many objects of its kind: the watch would only repeat what the answers have told, and an
 * event costs the API server and this process a third of what the write does. Afterwards it goes on where it ended.
 */
import type { Clock } from '../../os/clock.ts';

export interface WatchHold {
  /** Ends the watch, and keeps it closed until the returned function is called, or for a minute at most. */
  hold(): () => void;
  /** Waits while the watch is held back, then runs it. Returns `Held` when it was ended by `hold`. */
  run(watch: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<'Ended' | 'Held'>;
}

/** An API server keeps the events of 75 s for watches that go on: what is held back for less is sent then. */
export const LONGEST_HOLD_MS = 60_000;

export function createWatchHold(clock: Pick<Clock, 'sleep'>): WatchHold {
  let held: Hold | undefined;
  let open = new AbortController();

  return {
    hold() {
      if (held) return held.release;
      const current = createHold(clock, () => {
        held = undefined;
        open = new AbortController();
      });
      held = current;
      open.abort();
      return current.release;
    },
    async run(watch, signal) {
      for (let current = held; current; current = held) await untilReleased(current, signal);
      const { signal: closed } = open;
      try {
        await watch(AbortSignal.any([signal, closed]));
      } catch (error) {
        if (!closed.aborted || signal.aborted) throw error;
      }
      return closed.aborted && !signal.aborted ? 'Held' : 'Ended';
    },
  };
}

interface Hold {
  readonly released: AbortSignal;
  readonly release: () => void;
}

function createHold(clock: Pick<Clock, 'sleep'>, onRelease: () => void): Hold {
  const releasing = new AbortController();
  const release = (): void => {
    if (releasing.signal.aborted) return;
    onRelease();
    releasing.abort();
  };
  clock.sleep(LONGEST_HOLD_MS, releasing.signal).then(release, () => undefined);
  return { released: releasing.signal, release };
}

/** Rejects when the signal is aborted first. */
async function untilReleased({ released }: Hold, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const either = AbortSignal.any([released, signal]);
  if (either.aborted) resolve();
  else either.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  signal.throwIfAborted();
}
