/** Counters that belong to one breaker. They are kept among the rates of the ledger, and leave it after a day. Pure. */
import type { LedgerRate } from '../../api/generated/types.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { counterKey } from '../ledger/counter-key.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { setRate } from '../ledger/upkeep/bounds.ts';

/** A twelfth of a day, so that the counter leaves the ledger after one. */
const BUCKET_SECONDS = 7200;
const DAY_MS = 86_400_000;

/** Undefined after a day, or when it never began. */
export function counterValue(
  rates: Readonly<Record<string, LedgerRate>>,
  key: string,
  now: Date,
): number | undefined {
  const found = ownValue(rates, key);
  if (!found || Date.parse(found.firstBucketAt) + DAY_MS <= +now) return undefined;
  return found.counts[0];
}

export function setCounter(draft: LedgerDraft, key: string, value: number, now: Date): void {
  setRate(draft, key, { bucketSeconds: BUCKET_SECONDS, firstBucketAt: now.toISOString(), counts: [value] });
}

export function clearCounters(draft: LedgerDraft, id: string): void {
  delete draft.rates[counterKey(id, 'probes')];
  delete draft.rates[counterKey(id, 'storm')];
}
