/**
 * Politeness towards an API server: a token bucket for the rate, and a number of calls in flight that halves when the
 * server says that it has too much (429, 503, no answer in time) and grows by one for each round of good answers.
 */
import type { Clock } from '../../os/clock.ts';
import { KubeError } from '../client/errors.ts';

export interface Limiter {
  /** Waits for a place. Whoever got one gives it back by calling the function. */
  acquire(signal?: AbortSignal): Promise<ReleaseSlot>;
  /** How many calls may be in flight now. */
  inFlightLimit(): number;
}

export type ReleaseSlot = (outcome: CallOutcome) => void;

export interface CallOutcome {
  readonly overloaded: boolean;
  readonly retryAfterSeconds?: number;
}

export interface LimiterOptions {
  readonly clock: Clock;
  /** Calls a second in the long run; by default no limit. */
  readonly rate?: number;
  /** How many may go at once after a quiet time. */
  readonly burst?: number;
  readonly maxInFlight?: number;
}

// Where a local API server stops getting faster by more writers at once.
const MAX_IN_FLIGHT = 16;

interface State {
  readonly clock: Clock;
  readonly rate: number;
  readonly burst: number;
  readonly maxInFlight: number;
  readonly waiting: Set<() => void>;
  inFlight: number;
  /** Fractional: it grows by 1/limit for each good answer. */
  limit: number;
  tokens: number;
  filledAt: number;
  pausedUntil: number;
  /** Calls sent before this moment say nothing new about an overload that is known. */
  cutAt: number;
  alarm: AbortController | undefined;
}

export function createLimiter({ clock, rate, burst, maxInFlight }: LimiterOptions): Limiter {
  const perSecond = rate ?? Number.POSITIVE_INFINITY;
  const most = burst ?? Math.max(1, perSecond);
  const state: State = {
    clock,
    rate: perSecond,
    burst: most,
    maxInFlight: maxInFlight ?? MAX_IN_FLIGHT,
    waiting: new Set(),
    inFlight: 0,
    limit: maxInFlight ?? MAX_IN_FLIGHT,
    tokens: most,
    filledAt: clock.monotonicMs(),
    pausedUntil: Number.NEGATIVE_INFINITY,
    cutAt: Number.NEGATIVE_INFINITY,
    alarm: undefined,
  };
  return { acquire: (signal) => acquire(state, signal), inFlightLimit: () => places(state) };
}

function acquire(state: State, signal?: AbortSignal): Promise<ReleaseSlot> {
  const { promise, resolve, reject } = Promise.withResolvers<ReleaseSlot>();
  const go = (): void => {
    signal?.removeEventListener('abort', giveUp);
    resolve(take(state));
  };
  function giveUp(): void {
    state.waiting.delete(go);
    reject(new KubeError('Aborted', 'the call was given up before its turn', { cause: signal?.reason }));
  }
  if (signal?.aborted) giveUp();
  else {
    signal?.addEventListener('abort', giveUp, { once: true });
    state.waiting.add(go);
    serve(state);
  }
  return promise;
}

/** First come, first served, as far as places and tokens go. */
function serve(state: State): void {
  fill(state);
  for (const go of state.waiting) {
    const delay = delayOfNext(state);
    if (delay > 0) {
      wakeAfter(state, delay);
      return;
    }
    state.waiting.delete(go);
    go();
  }
}

function fill(state: State): void {
  const now = state.clock.monotonicMs();
  const earned =
    state.rate === Number.POSITIVE_INFINITY ? state.burst : ((now - state.filledAt) / 1000) * state.rate;
  state.tokens = Math.min(state.burst, state.tokens + earned);
  state.filledAt = now;
}

/** Infinity: until somebody gives a place back. */
function delayOfNext(state: State): number {
  if (state.inFlight >= places(state)) return Number.POSITIVE_INFINITY;
  const bucket = state.tokens >= 1 ? 0 : ((1 - state.tokens) / state.rate) * 1000;
  return Math.max(0, state.pausedUntil - state.clock.monotonicMs(), bucket);
}

function places({ limit }: State): number {
  return Math.max(1, Math.floor(limit));
}

/** One alarm at a time, set anew each time: what it waits for may have changed. */
function wakeAfter(state: State, ms: number): void {
  state.alarm?.abort();
  state.alarm = undefined;
  if (ms === Number.POSITIVE_INFINITY) return;
  const alarm = new AbortController();
  state.alarm = alarm;
  state.clock.sleep(Math.ceil(ms), alarm.signal).then(
    () => serve(state),
    () => {}, // replaced by another alarm
  );
}

function take(state: State): ReleaseSlot {
  state.tokens -= 1;
  state.inFlight += 1;
  const sentAt = state.clock.monotonicMs();
  let given = false;
  return (outcome) => {
    if (given) return;
    given = true;
    state.inFlight -= 1;
    learn(state, outcome, sentAt);
    serve(state);
  };
}

/** Many calls in flight learn of one overload at once: it halves the limit once. */
function learn(state: State, { overloaded, retryAfterSeconds = 0 }: CallOutcome, sentAt: number): void {
  const now = state.clock.monotonicMs();
  if (!overloaded) {
    state.limit = Math.min(state.maxInFlight, state.limit + 1 / state.limit);
    return;
  }
  state.pausedUntil = Math.max(state.pausedUntil, now + retryAfterSeconds * 1000);
  if (sentAt < state.cutAt) return;
  state.limit = Math.max(1, state.limit / 2);
  state.cutAt = now;
}
