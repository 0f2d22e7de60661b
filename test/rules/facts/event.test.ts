import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { eventFact } from '../../../src/rules/facts/event.ts';
import { ago } from '../../support/builders.ts';
import { runs } from '../../support/sweep-size.ts';
import { factsBed } from '../live/facts-bed.ts';

const MINUTE = 60_000;
const HUNG = { reason: 'TaskHung', windowSeconds: 600 };

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

describe('the fact event of a node', () => {
  it('counts the Events of the Node with that reason within the window', async () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(0) });
    bed.event('b', { reason: 'OOMKilling', lastTimestamp: ago(0) });
    bed.event('c', { reason: 'TaskHung', lastTimestamp: ago(0), involvedObject: { kind: 'Pod', name: 'n' } });
    bed.event('d', {
      reason: 'TaskHung',
      lastTimestamp: ago(0),
      involvedObject: { kind: 'Node', name: 'other' },
    });
    await bed.clock.advance(MINUTE);
    bed.event('a', { reason: 'TaskHung', count: 3, lastTimestamp: ago(-60) });
    expect(bed.read('event', HUNG)).toEqual({ count: 3, lastAgeSeconds: 0 });
    await bed.clock.advance(9.5 * MINUTE);
    bed.event('a', { reason: 'TaskHung', count: 4, lastTimestamp: ago(-630) });
    await bed.clock.advance(2 * MINUTE);
    expect(bed.read('event', HUNG)).toEqual({ count: 1, lastAgeSeconds: 120 });
  });

  it('counts none of an earlier Node of the same name', () => {
    const bed = factsBed();
    bed.node({ Ready: 'True' });
    const older = { kind: 'Node', name: 'n', uid: 'uid-0' };
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(9), involvedObject: older });
    expect(bed.read('event', HUNG)).toEqual({ count: 0 });
  });

  it('remembers Events that the API server deleted within the window', () => {
    const bed = factsBed();
    bed.event('a', { reason: 'TaskHung', lastTimestamp: ago(9) });
    bed.deleteEvent('a');
    expect(bed.read('event', HUNG)).toEqual({ count: 1, lastAgeSeconds: 9 });
  });

  it('R1 is unknown for a window that ends between Events that were counted together', () => {
    const bed = factsBed();
    bed.event('a', { reason: 'TaskHung', count: 5, firstTimestamp: ago(900), lastTimestamp: ago(60) });
    expect(bed.why('event', HUNG)).toBe(
      'some Events of this time window were counted together with older ones',
    );
    expect(bed.read('event', { ...HUNG, windowSeconds: 1000 })['count']).toBe(5);
    expect(bed.read('event', { ...HUNG, windowSeconds: 50 })['count']).toBe(0);
  });

  it('R1 is unknown for a window that is longer than what the API server keeps and we observed', async () => {
    const bed = factsBed();
    const long = { ...HUNG, windowSeconds: 5400 };
    expect(bed.why('event', long)).toBe('Events are known for the last 3600 s only');
    await bed.clock.advance(30 * MINUTE);
    expect(bed.read('event', long)).toEqual({ count: 0 });
  });

  it('R4 is unknown while the API server does not answer for longer than the maximum age', () => {
    const bed = factsBed();
    bed.silence('events', 119_000);
    expect(bed.read('event', HUNG)).toEqual({ count: 0 });
    bed.silence('events', 121_000);
    expect(bed.read('event', HUNG)).toEqual({});
  });
});
