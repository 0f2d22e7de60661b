/** Counters of rate limits: twelve buckets a window, of which a partly covered one counts in full. Pure. */
import type { LedgerRate, RateLimit } from '../../api/generated/types.ts';

const BUCKETS = 12;
const MAX_BUCKETS = 24;

type Window = Pick<RateLimit, 'windowSeconds'>;

/** `<policy>/<limit>/<key>`: at most 160 characters, so a long key is cut at the end. */
export function rateKey(policy: string, name: string, key: string): string {
  return `${policy}/${name}/${key}`.slice(0, 160);
}

/** Acts within the last `seconds`; more where a bucket began before them. */
export function countWithin(rate: LedgerRate | undefined, seconds: number, now: Date): number {
  if (!rate) return 0;
  const from = +now - seconds * 1000;
  const ends = bucketEnds(rate);
  return rate.counts.reduce((sum, count, index) => (ends(index) > from ? sum + count : sum), 0);
}

/** When fewer than `max` acts are left within the last `seconds`. */
export function fallsBelow(rate: LedgerRate, seconds: number, max: number, now: Date): Date | undefined {
  let left = countWithin(rate, seconds, now);
  if (max <= 0) return undefined;
  const ends = bucketEnds(rate);
  for (const [index, count] of rate.counts.entries()) {
    const leaves = ends(index) + seconds * 1000;
    if (leaves <= +now) continue;
    left -= count;
    if (left < max) return new Date(leaves);
  }
  return undefined;
}

export function bucketSecondsOf({ windowSeconds }: Window): number {
  return Math.ceil(windowSeconds / BUCKETS);
}

/** The counter with one more act, without the buckets that no window covers any more. */
export function countAct(rate: LedgerRate | undefined, window: Window, now: Date): LedgerRate {
  const bucketSeconds = bucketSecondsOf(window);
  const kept = rate && trimRate(inBucketsOf(bucketSeconds, rate, now), now);
  const { firstBucketAt, counts } = kept ?? { firstBucketAt: now.toISOString(), counts: [0] };
  // After a clock that went back, the act counts in the last bucket.
  const sinceFirst = Math.floor((+now - Date.parse(firstBucketAt)) / (bucketSeconds * 1000));
  const index = Math.max(sinceFirst, counts.length - 1);
  const padded = Array.from({ length: index + 1 }, (_, each) => counts[each] ?? 0);
  return { bucketSeconds, firstBucketAt, counts: padded.with(index, (padded[index] ?? 0) + 1) };
}

/** After a policy changed the window: an act counts in the bucket in which its own one ends, so that none leaves too early. */
function inBucketsOf(bucketSeconds: number, rate: LedgerRate, now: Date): LedgerRate {
  if (rate.bucketSeconds === bucketSeconds) return rate;
  const bucketMs = bucketSeconds * 1000;
  const start = +now - BUCKETS * bucketMs;
  const ends = bucketEnds(rate);
  const counts = Array.from({ length: BUCKETS + 1 }, () => 0);
  for (const [index, count] of rate.counts.entries()) {
    const bucket = Math.floor((Math.min(ends(index), +now) - start) / bucketMs);
    if (bucket >= 0) counts[bucket] = (counts[bucket] ?? 0) + count;
  }
  return { bucketSeconds, firstBucketAt: new Date(start).toISOString(), counts };
}

/** Whether nothing is left to count. */
export function isSpent(rate: LedgerRate, now: Date): boolean {
  return firstCounted(rate, now) < 0;
}

/** Undefined when nothing is left to count. */
export function trimRate(rate: LedgerRate, now: Date): LedgerRate | undefined {
  const kept = firstCounted(rate, now);
  if (kept < 0) return undefined;
  const from = Math.max(kept, rate.counts.length - MAX_BUCKETS);
  const firstBucketAt = new Date(Date.parse(rate.firstBucketAt) + from * rate.bucketSeconds * 1000);
  return { ...rate, firstBucketAt: firstBucketAt.toISOString(), counts: rate.counts.slice(from) };
}

/** -1: none. */
function firstCounted(rate: LedgerRate, now: Date): number {
  const oldest = +now - rate.bucketSeconds * BUCKETS * 1000;
  const ends = bucketEnds(rate);
  return rate.counts.findIndex((count, index) => count > 0 && ends(index) > oldest);
}

/** The end of a bucket by its index. */
function bucketEnds({ firstBucketAt, bucketSeconds }: LedgerRate): (index: number) => number {
  const start = Date.parse(firstBucketAt);
  return (index) => start + (index + 1) * bucketSeconds * 1000;
}
