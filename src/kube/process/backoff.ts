/** How long to wait after the n-th consecutive error. Pure: time and randomness are arguments. */

export interface BackoffState {
  readonly errors: number;
  /** When the last error occurred, and the wait after it. */
  readonly atMs: number;
  readonly delayMs: number;
}

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** After this time without an error, the next one counts as the first. */
  readonly stableMs: number;
}

/** The limits of client-go for lists and watches. */
export const WATCH_BACKOFF: BackoffLimits = { firstMs: 800, longestMs: 30_000, stableMs: 120_000 };

export const NO_ERRORS: BackoffState = { errors: 0, atMs: Number.NEGATIVE_INFINITY, delayMs: 0 };

/**
 * Doubles the delay and uses a random part of it between a half and all, so that clients of a server that failed do
 * not return together. A single success does not reset the delay, so that a server that fails every other time is not
 * called at full rate.
 */
export function backOffAfterError(
  before: BackoffState,
  {
    atMs,
    random,
    retryAfterSeconds = 0,
  }: { atMs: number; random: number; retryAfterSeconds?: number | undefined },
  limits: BackoffLimits = WATCH_BACKOFF,
): BackoffState {
  const stable = atMs - (before.atMs + before.delayMs) >= limits.stableMs;
  const errors = stable ? 1 : before.errors + 1;
  const whole = Math.min(limits.longestMs, limits.firstMs * 2 ** Math.min(errors - 1, 30));
  const delayMs = Math.max(whole * (0.5 + random / 2), retryAfterSeconds * 1000 * (1 + random / 10));
  return { errors, atMs, delayMs };
}

/** Full jitter: an even load of the server while all of its clients return. */
export function spreadReconnect(
  spreadMs: number,
  { random, retryAfterSeconds = 0 }: { random: number; retryAfterSeconds?: number | undefined },
): number {
  return Math.max(spreadMs * random, retryAfterSeconds * 1000 * (1 + random));
}
