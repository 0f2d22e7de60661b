/** Counters that belong to one breaker. They are kept among the rates of the ledger, and leave it after a day. Pure. */
import type { LedgerRate } from '../../api/generated/types.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { setRate } from '../ledger/upkeep/bounds.ts';

/** `probes`: verified probes so far. `storm`: acts at the same time that are allowed after a storm. */
export type BreakerCounter = 'probes' | 'storm';

/** A twelfth of a day, so that the counter leaves the ledger after one. */
const BUCKET_SECONDS = 7200;
const DAY_MS = 86_400_000;

export function counterKey(id: string, counter: BreakerCounter): string {
  return `${id.slice(0, 153)}#${counter}`;
}

/** Undefined after a day, or when it never began. */
export function counterValue(
  rates: Readonly<Record<string, LedgerRate>>,
  key: string,
  now: Date,
): number | undefined {
  const found = Object.hasOwn(rates, key) ? rates[key] : undefined;
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
