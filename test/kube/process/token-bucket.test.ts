import { describe, expect, it } from 'vitest';
import { createTokenBucket } from '../../../src/kube/process/token-bucket.ts';

describe('createTokenBucket', () => {
  it('allows a burst at once, then one token in each interval', () => {
    const bucket = createTokenBucket(10, 2);
    expect(take(bucket, 0)).toBe(0);
    expect(take(bucket, 0)).toBe(0);
    expect(bucket.delayMs(0)).toBe(100);
    expect(bucket.delayMs(99)).toBeCloseTo(1);
    expect(take(bucket, 100)).toBe(0);
  });

  it('lends tokens, and delays the next ones for longer', () => {
    const bucket = createTokenBucket(10, 1);
    expect([take(bucket, 0), take(bucket, 0), take(bucket, 0)]).toEqual([0, 100, 200]);
  });

  it('never holds more tokens than the burst', () => {
    const bucket = createTokenBucket(10, 2);
    take(bucket, 0);
    expect([take(bucket, 1e6), take(bucket, 1e6), take(bucket, 1e6)]).toEqual([0, 0, 100]);
  });

  it('ignores a clock that goes back', () => {
    const bucket = createTokenBucket(10, 1);
    take(bucket, 1000);
    expect(bucket.delayMs(0)).toBe(100);
  });

  it('never delays at an infinite rate', () => {
    const bucket = createTokenBucket(Number.POSITIVE_INFINITY, 1);
    expect([take(bucket, 0), take(bucket, 0)]).toEqual([0, 0]);
  });
});

function take(bucket: ReturnType<typeof createTokenBucket>, nowMs: number): number {
  const delayMs = bucket.delayMs(nowMs);
  bucket.take(nowMs);
  return delayMs;
}
