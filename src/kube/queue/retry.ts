/** The delay of a key after a failure: it grows with each failure, and a token bucket limits the rate of all retries. */
import { createTokenBucket } from '../process/token-bucket.ts';

export interface RetryBackoffOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** Numbers in [0, 1), so that keys that failed together are not retried together. */
  readonly random: () => number;
  /** Limit for the retries of all keys together. */
  readonly perSecond?: number;
  readonly burst?: number;
}

export interface RetryBackoff {
  /** Counts one more failure of the key and returns its delay. */
  delayMs(key: string, nowMs: number): number;
  failures(key: string): number;
  forget(key: string): void;
}

// client-go's numbers: a single failure is retried at once, a persistent one every quarter of an hour, and a broken
// API server gets at most ten requests a second.
const MIN_MS = 5;
const MAX_MS = 1_000_000;
const PER_SECOND = 10;
const BURST = 100;
// Up to this share of a delay is subtracted at random.
const JITTER = 0.5;

export function createRetryBackoff({
  minMs = MIN_MS,
  maxMs = MAX_MS,
  perSecond = PER_SECOND,
  burst = BURST,
  random,
}: RetryBackoffOptions): RetryBackoff {
  const failures = new Map<string, number>();
  const bucket = createTokenBucket(perSecond, burst);
  return {
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => void failures.delete(key),
    delayMs: (key, nowMs) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const longest = Math.min(maxMs, minMs * 2 ** count);
      const ownMs = longest - longest * JITTER * random();
      const sharedMs = bucket.delayMs(nowMs);
      bucket.take(nowMs);
      return Math.max(ownMs, sharedMs);
    },
  };
}
