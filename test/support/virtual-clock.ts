/**
 * A Clock that moves only when a test says so. Sleepers run on monotonic time, as real timers do; the wall clock
 * can be moved apart from it.
 */
import type { Clock } from '../../src/os/clock.ts';

export const NOW = new Date('2030-01-01T12:00:00.000Z');

export interface VirtualClock extends Clock {
  /** Time passes: sleepers wake in the order in which they are due, each at its own moment. */
  advance(ms: number): Promise<void>;
  /** The wall clock is set; nobody wakes. Also how a machine looks after it was suspended. */
  jumpWall(ms: number): void;
  /** The event loop stood still: time passed, and what fell due wakes late, all at once. */
  stall(ms: number): Promise<void>;
  /** Advances to the next sleeper; false when nobody sleeps. */
  advanceToNext(): Promise<boolean>;
  /** How many sleep now. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

export function virtualClock(start: Date = NOW): VirtualClock {
  let monotonicMs = 0;
  let wallOffsetMs = start.getTime();
  const sleepers = new Set<Sleeper>();

  const clock: VirtualClock = {
    now: () => new Date(wallOffsetMs + monotonicMs),
    monotonicMs: () => monotonicMs,
    sleep,
    advance: (ms) => advanceTo(monotonicMs + ms),
    jumpWall: (ms) => {
      wallOffsetMs += ms;
    },
    stall: (ms) => {
      monotonicMs += ms;
      return advanceTo(monotonicMs);
    },
    advanceToNext: async () => {
      await settle();
      const next = nextDue(Number.POSITIVE_INFINITY);
      if (next) await advanceTo(Math.max(monotonicMs, next.dueMs));
      return next !== undefined;
    },
    get sleepers() {
      return sleepers.size;
    },
  };
  return clock;

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(asError(signal.reason));
    if (ms <= 0) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      sleepers.delete(sleeper);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      leave();
      reject(asError(signal?.reason));
    };
    const wake = (): void => {
      leave();
      resolve();
    };
    const sleeper: Sleeper = { dueMs: monotonicMs + ms, wake };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', abort, { once: true });
    return promise;
  }

  /** Whoever wakes may sleep again within the same stretch of time, so the next one is looked for anew each time. */
  async function advanceTo(targetMs: number): Promise<void> {
    await settle();
    for (let next = nextDue(targetMs); next; next = nextDue(targetMs)) {
      monotonicMs = Math.max(monotonicMs, next.dueMs);
      next.wake();
      await settle();
    }
    monotonicMs = Math.max(monotonicMs, targetMs);
  }

  /** Equal moments wake in the order in which they were asked for: a Set keeps it. */
  function nextDue(untilMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.dueMs <= untilMs && (!first || sleeper.dueMs < first.dueMs)) first = sleeper;
    }
    return first;
  }
}

/** Lets every promise chain run as far as it gets without time: microtasks are drained before a macrotask. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
