import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerRate } from '../../../src/api/generated/types.ts';
import { countAct, countWithin, fallsBelow, rateKey, trimRate } from '../../../src/defender/ledger/rates.ts';
import { NOW } from '../builders.ts';

const WINDOW = { windowSeconds: 3600 };

describe('rate counters', () => {
  it.each([
    ['longer', 7200, 7199],
    ['shorter', 1800, 1799],
  ])('R16 keep their acts when a policy makes the window %s', (_, windowSeconds, lastSecond) => {
    const before = [0, 0, 0].reduce<LedgerRate | undefined>((rate) => countAct(rate, WINDOW, NOW), undefined);
    const later = new Date(+NOW + 60_000);
    const changed = countAct(before, { windowSeconds }, later);
    expect(changed.bucketSeconds).toBe(windowSeconds / 12);
    expect(countWithin(changed, windowSeconds, later)).toBe(4);
    expect(countWithin(changed, windowSeconds, new Date(+NOW + lastSecond * 1000))).toBe(4);
    const old = countAct(before, { windowSeconds: 1800 }, new Date(+NOW + 3_000_000));
    expect(countWithin(old, 1800, new Date(+NOW + 3_000_000))).toBe(1);
    expect(changed.counts.length).toBeLessThanOrEqual(24);
  });

  it('R16 never permit more acts in any sliding window than the limit, whenever acts are asked for', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 2000 }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 6 }), (gaps, max) => {
        const acts: number[] = [];
        let rate: LedgerRate | undefined;
        let at = +NOW;
        for (const gap of gaps) {
          at += gap * 1000;
          if (countWithin(rate, WINDOW.windowSeconds, new Date(at)) >= max) continue;
          rate = countAct(rate, WINDOW, new Date(at));
          acts.push(at);
        }
        for (const end of acts) {
          expect(acts.filter((act) => act > end - 3_600_000 && act <= end).length).toBeLessThanOrEqual(max);
        }
        expect(rate?.counts.length).toBeLessThanOrEqual(24);
      }),
    );
  });

  it('R16 permit the act again at the time that they announce', () => {
    const later = new Date(+NOW + 400_000);
    const rate = countAct(countAct(undefined, WINDOW, NOW), WINDOW, later);
    const end = fallsBelow(rate, 3600, 2, later);
    expect(end).toEqual(new Date(+NOW + 3_900_000));
    expect(countWithin(rate, 3600, new Date(+NOW + 3_899_999))).toBe(2);
    expect(countWithin(rate, 3600, new Date(+NOW + 3_900_000))).toBe(1);
    expect(fallsBelow(rate, 3600, 0, later)).toBeUndefined();
  });

  it('count an act in the last bucket when the clock went back, and keep it when the window changed', () => {
    const rate = countAct(undefined, WINDOW, NOW);
    expect(countAct(rate, WINDOW, new Date(+NOW - 7_200_000)).counts).toEqual([2]);
    expect(countAct(rate, { windowSeconds: 60 }, NOW)).toMatchObject({ bucketSeconds: 5, counts: [2] });
  });

  it('leave the ledger when no act is left, and fit into its keys', () => {
    expect(trimRate(countAct(undefined, WINDOW, NOW), new Date(+NOW + 3_900_000))).toBeUndefined();
    expect(rateKey('p', 'l', 'k'.repeat(200)).length).toBe(160);
  });
});
