/** A token bucket: `burst` tokens at most, refilled with `perSecond`. Pure: time is an argument. */

export interface TokenBucket {
  /** How long until the next token is available; 0 when one is. */
  delayMs(nowMs: number): number;
  /** Takes a token, even one that is not available yet: the next delay is longer then. */
  take(nowMs: number): void;
  /** Tells whether it is as a new one. */
  isFull(nowMs: number): boolean;
}

export function createTokenBucket(perSecond: number, burst: number): TokenBucket {
  let tokens = burst;
  let refilledMs: number | undefined;
  return {
    delayMs: (nowMs) => {
      refill(nowMs);
      return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * 1000;
    },
    take: (nowMs) => {
      refill(nowMs);
      tokens -= 1;
    },
    isFull: (nowMs) => {
      refill(nowMs);
      return tokens >= burst;
    },
  };

  function refill(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - (refilledMs ?? nowMs));
    const earned = perSecond === Number.POSITIVE_INFINITY ? burst : (elapsedMs / 1000) * perSecond;
    tokens = Math.min(burst, tokens + earned);
    refilledMs = nowMs;
  }
}
