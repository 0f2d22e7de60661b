/** Facts that are counted: Events of a reason, jobs of a step. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { event } from '../../../src/rules/facts/event.ts';
import type { Entry } from '../../../src/rules/facts/fact.ts';
import { history } from '../../../src/rules/facts/history.ts';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { runs } from '../../support/long.ts';

function events(ages: string, windowSeconds: number, reach = Infinity): Reading | undefined {
  const entries = words(ages).map((word) => {
    const [reason = '', age] = word.split('@');
    return { reason, ageSeconds: Number(age) };
  });
  return event.observed?.read(entries, { reason: 'Hung', windowSeconds }, reach);
}

/** `Reboot@60:Succeeded`: the step, how long ago, how it ended. */
function jobs(text: string, windowSeconds = 3600, reach = Infinity): Reading | undefined {
  const entries = words(text).map((word): Entry => {
    const [action = '', age = '', outcome] = word.split(/[@:]/);
    return { action, ageSeconds: Number(age), ...(outcome !== undefined && { outcome }) };
  });
  return history.observed?.read(entries, { action: 'Reboot', windowSeconds }, reach);
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

describe('Events of a reason', () => {
  it.each<readonly [name: string, ages: string, window: number, reading: Reading]>([
    ['counts none as none, and the last one as unknown', '', 600, { count: 0 }],
    ['counts those inside the window', 'Hung@10 Hung@599 Hung@601', 600, { count: 2, lastAgeSeconds: 10 }],
    ['counts the one at the edge', 'Hung@600', 600, { count: 1, lastAgeSeconds: 600 }],
    ['counts what happens now', 'Hung@0', 600, { count: 1, lastAgeSeconds: 0 }],
    ['leaves out other reasons', 'Slow@5 Hung@60 hung@1', 600, { count: 1, lastAgeSeconds: 60 }],
    ['knows the last one in any order', 'Hung@90 Hung@30 Hung@60', 600, { count: 3, lastAgeSeconds: 30 }],
  ])('%s', (_, ages, window, reading) => {
    expect(events(ages, window)).toEqual(reading);
  });

  it.each<readonly [reach: number, known: boolean]>([
    [0, false],
    [599, false],
    [Number.NaN, false],
    [600, true],
    [Infinity, true],
  ])('are unknown over 600 seconds when the source reaches back %s: %s', (reach, known) => {
    expect(events('Hung@10', 600, reach)).toEqual(known ? { count: 1, lastAgeSeconds: 10 } : {});
  });

  it('are counted the same in any order, and a longer window never counts fewer', () => {
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

describe('the history of a step', () => {
  it.each<readonly [name: string, text: string, reading: Reading]>([
    ['is none where nothing was done', '', { count: 0 }],
    [
      'is how often, how long ago, and how it ended last',
      'Reboot@90:Transient Reboot@30:Succeeded',
      { count: 2, lastAgeSeconds: 30, lastOutcome: 'Succeeded' },
    ],
    ['leaves out other steps', 'Drain@5:Succeeded', { count: 0 }],
    ['leaves out what is too old', 'Reboot@4000:Succeeded', { count: 0 }],
    [
      'does not know how a job ends that still runs',
      'Reboot@5 Reboot@90:Succeeded',
      { count: 2, lastAgeSeconds: 5 },
    ],
  ])('%s', (_, text, reading) => {
    expect(jobs(text)).toEqual(reading);
  });

  it('is unknown when jobs are kept for a shorter time', () => {
    expect(jobs('Reboot@5:Succeeded', 3600, 1800)).toEqual({});
  });
});
