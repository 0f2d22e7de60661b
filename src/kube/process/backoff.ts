/** How long to wait after the n-th error in a row. Pure: time and chance are arguments. */

export interface BackoffState {
  readonly errors: number;
  /** Of the last error, and how long we waited after it. */
  readonly atMs: number;
  readonly delayMs: number;
}

export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
  /** So long without an error, and the next one counts as the first. */
  readonly stableMs: number;
}

/** client-go's numbers for lists and watches. */
export const WATCH_BACKOFF: BackoffLimits = { firstMs: 800, longestMs: 30_000, stableMs: 120_000 };

export const NO_ERRORS: BackoffState = { errors: 0, atMs: Number.NEGATIVE_INFINITY, delayMs: 0 };

/**
 * Doubles, and takes a random part between half and all of it, so that clients who lost one server together do not come
 * back together. A good answer in between resets nothing: a server that fails every other time deserves its peace.
 */
export function backOffAfterError(
  before: BackoffState,
  {
    atMs,
    chance,
    retryAfterSeconds = 0,
  }: { atMs: number; chance: number; retryAfterSeconds?: number | undefined },
  limits: BackoffLimits = WATCH_BACKOFF,
): BackoffState {
  const stable = atMs - (before.atMs + before.delayMs) >= limits.stableMs;
  const errors = stable ? 1 : before.errors + 1;
  const whole = Math.min(limits.longestMs, limits.firstMs * 2 ** Math.min(errors - 1, 30));
  const delayMs = Math.max(whole * (0.5 + chance / 2), retryAfterSeconds * 1000 * (1 + chance / 10));
  return { errors, atMs, delayMs };
}
