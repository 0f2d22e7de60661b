/** How long a key waits after a failure: longer each time, and all keys together no faster than a bucket allows. */

export interface RetryBackoffOptions {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** Numbers in [0, 1), so that keys that failed together do not come back together. */
  readonly random: () => number;
  /** For the failures of all keys together. */
  readonly perSecond?: number;
  readonly burst?: number;
}

export interface RetryBackoff {
  /** Counts one more failure of the key. */
  delayMs(key: string, nowMs: number): number;
  failures(key: string): number;
  forget(key: string): void;
}

// client-go's numbers: a hiccup is retried at once, what has failed for a day costs one pass in a quarter of an
// hour, and a broken API server hears from us ten times a second.
const MIN_MS = 5;
const MAX_MS = 1_000_000;
const PER_SECOND = 10;
const BURST = 100;
// Up to this share of a delay is taken off.
const JITTER = 0.5;

export function createRetryBackoff({
  minMs = MIN_MS,
  maxMs = MAX_MS,
  perSecond = PER_SECOND,
  burst = BURST,
  random,
}: RetryBackoffOptions): RetryBackoff {
  const failures = new Map<string, number>();
  const reserve = bucket(perSecond, burst);
  return {
    failures: (key) => failures.get(key) ?? 0,
    forget: (key) => void failures.delete(key),
    delayMs: (key, nowMs) => {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      const longest = Math.min(maxMs, minMs * 2 ** count);
      const own = longest - longest * JITTER * random();
      return Math.max(own, reserve(nowMs));
    },
  };
}

/** How long until the place that is taken now is free. Places may be taken ahead of time. */
export function bucket(perSecond: number, burst: number): (nowMs: number) => number {
  let tokens = burst;
  let lastMs: number | undefined;
  return (nowMs) => {
    const passedMs = Math.max(0, nowMs - (lastMs ?? nowMs));
    tokens = Math.min(burst, tokens + (passedMs / 1000) * perSecond) - 1;
    lastMs = nowMs;
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
  };
}
