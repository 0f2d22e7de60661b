import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backOffAfterError,
  NO_ERRORS,
  spreadReconnect,
  WATCH_BACKOFF,
} from '../../../src/kube/process/backoff.ts';
import { runs } from '../../support/sweep-size.ts';

describe('backOffAfterError', () => {
  it('doubles up to the longest delay', () => {
    let backoff = NO_ERRORS;
    const delays = Array.from({ length: 8 }, () => {
      backoff = backOffAfterError(backoff, {
        atMs: backoff.errors === 0 ? 0 : backoff.atMs + backoff.delayMs,
        random: 1,
      });
      return backoff.delayMs;
    });
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  });

  it('starts again after a stable time, counted from the end of the last wait', () => {
    const before = { errors: 6, atMs: 0, delayMs: 25_000 };
    const at = (atMs: number): number => backOffAfterError(before, { atMs, random: 1 }).errors;
    expect([at(25_000 + 119_999), at(25_000 + 120_000)]).toEqual([7, 1]);
  });

  it('respects Retry-After, plus a random part so that clients do not return together', () => {
    const delays = [0, 1].map(
      (random) => backOffAfterError(NO_ERRORS, { atMs: 0, random, retryAfterSeconds: 60 }).delayMs,
    );
    expect(delays).toEqual([60_000, 66_000]);
  });

  it('uses a random part between half and all of the delay', () => {
    const anyBefore = fc.record({ errors: fc.nat(100), atMs: fc.nat(1000), delayMs: fc.nat(1000) });
    const anyChance = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(anyBefore, anyChance, (before, random) => {
        const { delayMs } = backOffAfterError(before, { atMs: 2000, random });
        const whole = Math.min(WATCH_BACKOFF.longestMs, 800 * 2 ** before.errors);
        expect(delayMs).toBeGreaterThanOrEqual(whole / 2);
        expect(delayMs).toBeLessThanOrEqual(whole);
      }),
      runs(200, 10_000),
    );
  });
});

describe('spreadReconnect', () => {
  it.each([
    ['any part of the time', { random: 0.25 }, 15_000],
    ['no time', { random: 0 }, 0],
    [
      'at least what the server asked for, and up to twice of it',
      { random: 0.5, retryAfterSeconds: 100 },
      150_000,
    ],
  ])('waits %s', (_, attempt, expected) => {
    expect(spreadReconnect(60_000, attempt)).toBe(expected);
  });
});
