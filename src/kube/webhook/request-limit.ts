/** Limits how many requests of a webhook are handled in a second. */
import type { Clock } from '../../os/clock.ts';
import { createTokenBucket } from '../process/token-bucket.ts';
import type { HookAnswer } from './request.ts';

export interface RequestRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Counts a request. Returns the answer to one that is too many, and undefined for any other. */
export type RequestLimit = () => HookAnswer | undefined;

export function createRequestLimit(
  { perSecond, burst }: RequestRate,
  clock: Pick<Clock, 'monotonicMs'>,
): RequestLimit {
  const bucket = createTokenBucket(perSecond, burst);
  return () => {
    const now = clock.monotonicMs();
    const waitMs = bucket.delayMs(now);
    if (waitMs > 0) return limitedAnswer(waitMs, perSecond);
    bucket.take(now);
    return undefined;
  };
}

function limitedAnswer(waitMs: number, perSecond: number): HookAnswer {
  return {
    status: 429,
    text: `too many requests: at most ${perSecond} a second`,
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
    result: 'Limited',
  };
}
