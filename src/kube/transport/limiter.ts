/**
 * Limits the load on an API server: a token bucket for the rate, and a limit of calls in flight. That limit halves when
 * the server is overloaded (429, 503, timeout) and grows by one for each round of good answers.
 */
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';
import { createTokenBucket, type TokenBucket } from '../process/token-bucket.ts';

export interface Limiter {
  /** Waits for a slot. Call the returned function to release it. */
  acquire(signal?: AbortSignal): Promise<ReleaseSlot>;
  /** The current limit of calls in flight. */
  inFlightLimit(): number;
}

export type ReleaseSlot = (outcome: CallOutcome) => void;

export interface CallOutcome {
  readonly overloaded: boolean;
  readonly retryAfterSeconds?: number;
}

export interface LimiterOptions {
  readonly clock: Clock;
  /** Calls per second on average; unlimited by default. */
  readonly rate?: number;
  /** Calls that may start at once after an idle time. */
  readonly burst?: number;
  readonly maxInFlight?: number;
}

// A local API server does not get faster with more concurrent writers.
const MAX_IN_FLIGHT = 16;

interface State {
  readonly clock: Clock;
  readonly bucket: TokenBucket;
  readonly maxInFlight: number;
  readonly waiting: Set<() => void>;
  inFlight: number;
  /** A fraction, because it grows by 1/limit for each good answer. */
  limit: number;
  pausedUntil: number;
  /** When the limit was last reduced: calls sent before that report the same overload. */
  reducedAt: number;
  timer: AbortController | undefined;
}

export function createLimiter({ clock, rate, burst, maxInFlight }: LimiterOptions): Limiter {
  const perSecond = rate ?? Number.POSITIVE_INFINITY;
  const state: State = {
    clock,
    bucket: createTokenBucket(perSecond, burst ?? Math.max(1, perSecond)),
    maxInFlight: maxInFlight ?? MAX_IN_FLIGHT,
    waiting: new Set(),
    inFlight: 0,
    limit: maxInFlight ?? MAX_IN_FLIGHT,
    pausedUntil: Number.NEGATIVE_INFINITY,
    reducedAt: Number.NEGATIVE_INFINITY,
    timer: undefined,
  };
  return { acquire: (signal) => acquire(state, signal), inFlightLimit: () => limitOf(state) };
}

function acquire(state: State, signal?: AbortSignal): Promise<ReleaseSlot> {
  const { promise, resolve, reject } = Promise.withResolvers<ReleaseSlot>();
  const start = (): void => {
    signal?.removeEventListener('abort', onAbort);
    resolve(takeSlot(state));
  };
  function onAbort(): void {
    state.waiting.delete(start);
    reject(
      new KubeError('Aborted', 'the call was aborted while it waited for a slot', { cause: signal?.reason }),
    );
  }
  if (signal?.aborted) onAbort();
  else {
    signal?.addEventListener('abort', onAbort, { once: true });
    state.waiting.add(start);
    serve(state);
  }
  return promise;
}

/** Starts waiting calls in order, as far as slots and tokens allow. */
function serve(state: State): void {
  for (const start of state.waiting) {
    const delay = delayOfNext(state);
    if (delay > 0) {
      serveAfter(state, delay);
      return;
    }
    state.waiting.delete(start);
    start();
  }
}

/** Infinity when a slot must be released first. */
function delayOfNext(state: State): number {
  if (state.inFlight >= limitOf(state)) return Number.POSITIVE_INFINITY;
  const now = state.clock.monotonicMs();
  return Math.max(0, state.pausedUntil - now, state.bucket.delayMs(now));
}

function limitOf({ limit }: State): number {
  return Math.max(1, Math.floor(limit));
}

/** Only one timer at a time, replaced each time because the delay may have changed. */
function serveAfter(state: State, ms: number): void {
  state.timer?.abort();
  state.timer = undefined;
  if (ms === Number.POSITIVE_INFINITY) return;
  const timer = new AbortController();
  state.timer = timer;
  state.clock.sleep(Math.ceil(ms), timer.signal).then(
    () => serve(state),
    () => {}, // replaced by another timer
  );
}

function takeSlot(state: State): ReleaseSlot {
  const sentAt = state.clock.monotonicMs();
  state.bucket.take(sentAt);
  state.inFlight += 1;
  let released = false;
  return (outcome) => {
    if (released) return;
    released = true;
    state.inFlight -= 1;
    adjustLimit(state, outcome, sentAt);
    serve(state);
  };
}

/** Many calls in flight may report the same overload: it halves the limit only once. */
function adjustLimit(state: State, { overloaded, retryAfterSeconds = 0 }: CallOutcome, sentAt: number): void {
  const now = state.clock.monotonicMs();
  if (!overloaded) {
    state.limit = Math.min(state.maxInFlight, state.limit + 1 / state.limit);
    return;
  }
  state.pausedUntil = Math.max(state.pausedUntil, now + retryAfterSeconds * 1000);
  if (sentAt < state.reducedAt) return;
  state.limit = Math.max(1, state.limit / 2);
  state.reducedAt = now;
}
