/**
 * Outcomes of the last acts of a breaker, newest last: 1 for one that failed. They are kept among the counters, because the
 * entry of an act leaves the ledger long before a breaker forgets it. Pure.
 */
import type { LedgerRate } from '../../api/generated/types.ts';

const MAX_OUTCOMES = 24;

/** `firstBucketAt` is the time of the last act. */
export function addOutcome(rate: LedgerRate | undefined, hasFailed: boolean, now: Date): LedgerRate {
  const counts = [...(rate?.counts ?? []), hasFailed ? 1 : 0].slice(-MAX_OUTCOMES);
  return { bucketSeconds: 1, firstBucketAt: now.toISOString(), counts };
}
