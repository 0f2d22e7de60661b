import { describe, expect, it } from 'vitest';
import { createRequestLimit } from '../../../src/kube/webhook/request-limit.ts';

describe('createRequestLimit', () => {
  it('S25 lets a burst through, then so many a second, and tells the others when to come again', () => {
    let now = 0;
    const limit = createRequestLimit({ perSecond: 2, burst: 3 }, { monotonicMs: () => now });
    const statuses = (): (number | undefined)[] => Array.from({ length: 4 }, () => limit()?.status);
    expect(statuses()).toEqual([undefined, undefined, undefined, 429]);
    now = 500;
    expect(statuses()).toEqual([undefined, 429, 429, 429]);
    expect(limit()).toEqual({
      status: 429,
      text: 'too many requests: at most 2 a second',
      headers: { 'retry-after': '1' },
      result: 'Limited',
    });
  });
});
