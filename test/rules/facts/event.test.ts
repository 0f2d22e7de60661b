import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { eventFact } from '../../../src/rules/facts/event.ts';
import { runs } from '../../support/sweep-size.ts';

function events(ages: string, windowSeconds: number, reach = Infinity): Reading | undefined {
  const entries = words(ages).map((word) => {
    const [reason = '', age] = word.split('@');
    return { reason, ageSeconds: Number(age) };
  });
  return eventFact.observed?.read(entries, { reason: 'Hung', windowSeconds }, reach);
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

describe('the fact event', () => {
  it.each<readonly [name: string, ages: string, window: number, reading: Reading]>([
    ['counts 0 without Events, with an unknown age', '', 600, { count: 0 }],
    ['counts Events inside the window', 'Hung@10 Hung@599 Hung@601', 600, { count: 2, lastAgeSeconds: 10 }],
    ['counts an Event at the edge of the window', 'Hung@600', 600, { count: 1, lastAgeSeconds: 600 }],
    ['counts an Event of age 0', 'Hung@0', 600, { count: 1, lastAgeSeconds: 0 }],
    ['ignores other reasons', 'Slow@5 Hung@60 hung@1', 600, { count: 1, lastAgeSeconds: 60 }],
    ['finds the last Event in any order', 'Hung@90 Hung@30 Hung@60', 600, { count: 3, lastAgeSeconds: 30 }],
  ])('%s', (_, ages, window, reading) => {
    expect(events(ages, window)).toEqual(reading);
  });

  it.each<readonly [reach: number, known: boolean]>([
    [0, false],
    [599, false],
    [Number.NaN, false],
    [600, true],
    [Infinity, true],
  ])('is known for 600 seconds if the source covers %s seconds: %s', (reach, known) => {
    expect(events('Hung@10', 600, reach)).toEqual(known ? { count: 1, lastAgeSeconds: 10 } : {});
  });

  it('does not depend on the order, and a longer window never has a smaller count', () => {
    const anyAges = fc.array(fc.nat(1000), { maxLength: 20 });
    fc.assert(
      fc.property(anyAges, fc.integer({ min: 1, max: 1000 }), fc.nat(100), (ages, window, more) => {
        const text = ages.map((age) => `Hung@${age}`).join(' ');
        const reversed = ages
          .toReversed()
          .map((age) => `Hung@${age}`)
          .join(' ');
        const short = events(text, window);
        expect(events(reversed, window)).toEqual(short);
        expect(events(text, window + more)?.['count']).toBeGreaterThanOrEqual(Number(short?.['count']));
      }),
      runs(100, 5000),
    );
  });
});
