/**
 * Limits sign-ins, so that wrong tokens cost the API server nothing: each failed one takes a token from a bucket of its address and from one
 * of all addresses. A token cannot be guessed: the limits protect the API server, not the token.
 */
import { createTokenBucket, type TokenBucket } from '../../kube/process/token-bucket.ts';
import type { Clock } from '../../os/clock.ts';

export interface SignInLimits {
  /** Returns how long the address has to wait; 0: it may try now. */
  waitSeconds(address: string): number;
  /** Takes a place among those that ask the API server now. Undefined: all are taken. Call the result to free it. */
  enter(): (() => void) | undefined;
  /** Counts a failure. */
  failed(address: string): void;
}

/** Twenty failures at once are a team behind one proxy that mistypes; one every five seconds after that. */
const PER_ADDRESS = { perSecond: 0.2, burst: 20 };
const OF_ALL = { perSecond: 2, burst: 100 };
/** The number of addresses with a bucket of their own: more share one. */
const MAX_ADDRESSES = 1000;
/** The number of sign-ins that ask the API server at the same time. */
const MAX_AT_ONCE = 4;

export function createSignInLimits(clock: Pick<Clock, 'monotonicMs'>): SignInLimits {
  const all = createTokenBucket(OF_ALL.perSecond, OF_ALL.burst);
  const others = createTokenBucket(PER_ADDRESS.perSecond, PER_ADDRESS.burst);
  const byAddress = new Map<string, TokenBucket>();
  let asking = 0;

  return {
    waitSeconds(address) {
      const now = clock.monotonicMs();
      const own = byAddress.get(address) ?? (byAddress.size < MAX_ADDRESSES ? undefined : others);
      return Math.ceil(Math.max(all.delayMs(now), own?.delayMs(now) ?? 0) / 1000);
    },
    enter() {
      if (asking >= MAX_AT_ONCE) return undefined;
      asking += 1;
      return () => {
        asking -= 1;
      };
    },
    failed(address) {
      const now = clock.monotonicMs();
      // Without debt: those that were let in together fail together, and must not lock out others for hours.
      for (const bucket of [all, bucketFor(address)]) if (bucket.delayMs(now) === 0) bucket.take(now);
    },
  };

  function bucketFor(address: string): TokenBucket {
    const known = byAddress.get(address);
    if (known) return known;
    if (byAddress.size >= MAX_ADDRESSES) forgetFull();
    if (byAddress.size >= MAX_ADDRESSES) return others;
    const bucket = createTokenBucket(PER_ADDRESS.perSecond, PER_ADDRESS.burst);
    byAddress.set(address, bucket);
    return bucket;
  }

  /** A bucket that is full again is as a new one. */
  function forgetFull(): void {
    const now = clock.monotonicMs();
    for (const [address, bucket] of byAddress) {
      if (bucket.isFull(now)) byAddress.delete(address);
    }
  }
}
