/** Requests for each caller and for each address, with a bound on how many of them are remembered. */
import { createTokenBucket, type TokenBucket } from '../../kube/process/token-bucket.ts';
import type { Clock } from '../../os/clock.ts';
import { HttpProblem } from './problem.ts';

export interface RateLimit {
  /** Throws TooManyRequests. */
  check(key: string): void;
}

export interface RateLimitOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly perSecond: number;
  readonly burst: number;
  /** For the message: "requests of caller". */
  readonly what: string;
}

/** The least recently used are forgotten: they may have a burst again. */
const MAX_KEYS = 10_000;

export function createRateLimit({ clock, perSecond, burst, what }: RateLimitOptions): RateLimit {
  const buckets = new Map<string, TokenBucket>();
  return {
    check: (key) => {
      const bucket = buckets.get(key) ?? createTokenBucket(perSecond, burst);
      buckets.delete(key);
      buckets.set(key, bucket);
      const [oldest] = buckets.keys();
      if (buckets.size > MAX_KEYS && oldest !== undefined) buckets.delete(oldest);
      const waitMs = bucket.delayMs(clock.monotonicMs());
      if (waitMs === 0) bucket.take(clock.monotonicMs());
      else {
        throw new HttpProblem('TooManyRequests', `too many ${what} ${key}: at most ${perSecond} a second`, {
          retryAfterSeconds: waitMs / 1000,
        });
      }
    },
  };
}
