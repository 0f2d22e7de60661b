/**
 * A Clock that a test advances. Sleepers use monotonic time, as real timers do; the wall clock
 * can be set independently.
 */
import type { Clock } from '../../src/os/clock.ts';

export const NOW = new Date('2030-01-01T12:00:00.000Z');

export interface VirtualClock extends Clock {
  /** Lets time pass: sleepers wake in the order in which they are due, each at its own time. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock; no sleep ends. The same happens when a machine is suspended. */
  jumpWall(ms: number): void;
  /** Simulates a blocked event loop: time passes, and all sleeps that are due end late, at once. */
  stall(ms: number): Promise<void>;
  /** Advances to the next sleeper; false if there is none. */
  advanceToNext(): Promise<boolean>;
  /** The number of sleepers now. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly dueMs: number;
  readonly resume: () => void;
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
    const resume = (): void => {
      leave();
      resolve();
    };
    const sleeper: Sleeper = { dueMs: monotonicMs + ms, resume };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', abort, { once: true });
    return promise;
  }

  /** A sleeper may sleep again within the same period, so each step finds the next one again. */
  async function advanceTo(targetMs: number): Promise<void> {
    await settle();
    for (let next = nextDue(targetMs); next; next = nextDue(targetMs)) {
      monotonicMs = Math.max(monotonicMs, next.dueMs);
      next.resume();
      await settle();
    }
    monotonicMs = Math.max(monotonicMs, targetMs);
  }

  /** Sleeps that are due at the same time end in the order of their calls: a Set keeps it. */
  function nextDue(untilMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) {
      if (sleeper.dueMs <= untilMs && (!first || sleeper.dueMs < first.dueMs)) first = sleeper;
    }
    return first;
  }
}

/** Lets every promise chain run as far as it can without time passing: microtasks run before a macrotask. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
