import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTestQueue } from '../../support/kube/queue-bed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('createRetryBackoff', () => {
  it('doubles from 5 ms to 1000 s, and starts again after a success', () => {
    const queue = createTestQueue(virtualClock());
    const waits = Array.from({ length: 20 }, () => queue.retry('a'));
    expect(waits.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(waits.slice(-2)).toEqual([1_000_000, 1_000_000]);
    expect(queue.failures('a')).toBe(20);
    expect(queue.retry('b')).toBe(5);
    queue.forget('a');
    expect(queue.retry('a')).toBe(5);
  });

  it('subtracts at most half at random', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat(40),
        (chance, before) => {
          const queue = createTestQueue(virtualClock(), { random: () => chance });
          for (let n = 0; n < before; n += 1) queue.retry('a');
          const longest = Math.min(1_000_000, 5 * 2 ** before);
          const wait = queue.retry('a');
          expect(wait).toBeLessThanOrEqual(longest);
          expect(wait).toBeGreaterThan(longest / 2 - 1e-6);
        },
      ),
    );
  });

  it('limits the rate of all keys together', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock, { perSecond: 10, burst: 20, maxMs: 5 });
    for (let n = 0; n < 50; n += 1) queue.retry(`k${n}`);
    await clock.advance(5);
    expect(queue.depth).toBe(20);
    await clock.advance(1000);
    expect(queue.depth).toBe(30);
    await clock.advance(2000);
    expect(queue.depth).toBe(50);
  });

  it('recovers its burst while nothing fails', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock, { perSecond: 10, burst: 2, maxMs: 5 });
    const three = (): number[] => ['a', 'b', 'c'].map((key) => queue.retry(key));
    expect(three()).toEqual([5, 5, 100]);
    await clock.advance(3_600_000);
    expect(three()).toEqual([5, 5, 100]);
  });
});
