import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, RuleWaves } from '../../../src/api/generated/types.ts';
import { LOOSER_AFTER_SECONDS, strictest, termsInForce } from '../../../src/rollout/rule-waves/terms.ts';
import { NOW } from '../../support/builders.ts';
import { ago } from './builders.ts';

const USUAL: RuleWaves = { waves: [1, '5%', '20%', '100%'], soakSeconds: 1800, minSuccessPercent: 90 };

describe('the terms of rule waves', () => {
  it.each<[name: string, next: Partial<RuleWaves>, expected: Partial<RuleWaves>]>([
    ['takes a longer soak at once', { soakSeconds: 3600 }, { soakSeconds: 3600 }],
    ['keeps the longer soak', { soakSeconds: 60 }, {}],
    ['takes a higher percentage at once', { minSuccessPercent: 100 }, { minSuccessPercent: 100 }],
    ['keeps the higher percentage', { minSuccessPercent: 0 }, {}],
    ['takes smaller waves at once', { waves: [1, '2%', '20%', '100%'] }, { waves: [1, '2%', '20%', '100%'] }],
    [
      'takes one more wave at once',
      { waves: [1, '5%', '20%', '50%', '100%'] },
      { waves: [1, '5%', '20%', '50%', '100%'] },
    ],
    ['keeps the waves when one is larger', { waves: [1, '5%', '30%', '100%'] }, {}],
    ['keeps the waves when one is missing', { waves: [1, '5%', '20%'] }, {}],
    ['keeps the waves when they cannot be compared', { waves: [1, 3, '20%', '100%'] }, {}],
    [
      'tightens one part although another is loosened',
      { waves: ['100%'], soakSeconds: 7200 },
      { soakSeconds: 7200 },
    ],
  ])('R10 what is in force %s', (_, next, expected) => {
    const { inForce } = termsInForce({ inForce: USUAL }, { ...USUAL, ...next }, NOW);
    expect(inForce).toEqual({ ...USUAL, ...expected });
  });

  it('R10 takes looser terms a day after they were observed, and not if they changed meanwhile', () => {
    const looser = { ...USUAL, waves: ['100%'] as const };
    const first = termsInForce({ inForce: USUAL }, looser, new Date(ago(LOOSER_AFTER_SECONDS)));
    expect(first).toEqual({ inForce: USUAL, looser, looserSince: ago(LOOSER_AFTER_SECONDS) });
    expect(termsInForce(first, looser, new Date(ago(1))).inForce).toEqual(USUAL);
    expect(termsInForce(first, looser, NOW)).toEqual({ inForce: looser });
    const other = { ...looser, minSuccessPercent: 0 };
    expect(termsInForce(first, other, NOW)).toEqual({
      inForce: USUAL,
      looser: other,
      looserSince: NOW.toISOString(),
    });
    expect(termsInForce(first, USUAL, NOW)).toEqual({ inForce: USUAL });
  });

  it('R10 never gets looser by what is combined, in any part', () => {
    const amount: fc.Arbitrary<Amount> = fc.oneof(
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 100 }).map((percent): Amount => `${percent}%` as Amount),
    );
    const terms: fc.Arbitrary<RuleWaves> = fc.record({
      waves: fc.array(amount, { minLength: 1, maxLength: 5 }),
      soakSeconds: fc.nat(9000),
      minSuccessPercent: fc.nat(100),
    });
    fc.assert(
      fc.property(terms, terms, (next, before) => {
        const { waves, soakSeconds, minSuccessPercent } = strictest(next, before);
        expect(soakSeconds).toBeGreaterThanOrEqual(before.soakSeconds);
        expect(minSuccessPercent).toBeGreaterThanOrEqual(before.minSuccessPercent);
        expect(waves.length).toBeGreaterThanOrEqual(before.waves.length);
        for (const [index, each] of before.waves.entries()) {
          expect(Number.parseInt(String(waves[index]), 10)).toBeLessThanOrEqual(
            Number.parseInt(String(each), 10),
          );
        }
      }),
    );
  });
});
