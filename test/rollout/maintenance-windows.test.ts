import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Freeze, Window } from '../../src/api/generated/types.ts';
import {
  activeFreeze,
  freezeLimit,
  windowLimit,
  windowState,
} from '../../src/rollout/maintenance-windows.ts';

type Days = NonNullable<Window['days']>;

/** `Mon,Tue 09:00-16:00 Europe/Berlin`; without days: every day. */
function parseWindow(text: string): Window {
  const [, days, start = '', end = '', timeZone = ''] =
    /^(?:([A-Za-z,]+) )?(\d\d:\d\d)-(\d\d:\d\d) (\S+)$/.exec(text) ?? [];
  return {
    name: 'work',
    start,
    end,
    timeZone,
    ...(days === undefined ? {} : { days: days.split(',') as unknown as Days }),
  };
}

/** `open until T` or `closed until T`, in UTC. */
function describeState(windows: readonly Window[], now: string): string {
  const { open, changesAt } = windowState(windows, new Date(now));
  return `${open ? 'open' : 'closed'} until ${changesAt?.toISOString().replace(':00.000Z', 'Z') ?? 'never'}`;
}

/** Europe/Berlin: forward on 2026-03-29 at 01:00Z (02:00 → 03:00), back on 2026-10-25 at 01:00Z (03:00 → 02:00). */
const BERLIN: readonly (readonly [window: string, now: string, expected: string])[] = [
  ['09:00-16:00 Europe/Berlin', '2026-01-14T07:59:59Z', 'closed until 2026-01-14T08:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-01-14T08:00:00Z', 'open until 2026-01-14T15:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-01-14T14:59:59Z', 'open until 2026-01-14T15:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-01-14T15:00:00Z', 'closed until 2026-01-15T08:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-07-15T06:59:59Z', 'closed until 2026-07-15T07:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-07-15T07:00:00Z', 'open until 2026-07-15T14:00Z'],
  // From Saturday's close to Sunday's open across both changes: one hour less, one hour more.
  ['09:00-16:00 Europe/Berlin', '2026-03-28T15:00:00Z', 'closed until 2026-03-29T07:00Z'],
  ['09:00-16:00 Europe/Berlin', '2026-10-24T14:00:00Z', 'closed until 2026-10-25T08:00Z'],
  // Weekdays are those of the zone.
  ['Mon 00:00-06:00 Europe/Berlin', '2026-01-11T22:59:00Z', 'closed until 2026-01-11T23:00Z'],
  ['Mon 00:00-06:00 Europe/Berlin', '2026-01-11T23:00:00Z', 'open until 2026-01-12T05:00Z'],
  ['Mon,Thu 09:00-16:00 Europe/Berlin', '2026-01-12T15:00:00Z', 'closed until 2026-01-15T08:00Z'],
  ['Mon 09:00-16:00 Europe/Berlin', '2026-01-12T15:00:00Z', 'closed until 2026-01-19T08:00Z'],
  // Past midnight, a window belongs to the day on which it starts.
  ['Fri 22:00-04:00 Europe/Berlin', '2026-01-16T21:00:00Z', 'open until 2026-01-17T03:00Z'],
  ['Fri 22:00-04:00 Europe/Berlin', '2026-01-17T02:59:59Z', 'open until 2026-01-17T03:00Z'],
  ['Fri 22:00-04:00 Europe/Berlin', '2026-01-17T03:00:00Z', 'closed until 2026-01-23T21:00Z'],
  ['Sat 22:00-04:00 Europe/Berlin', '2026-03-28T21:00:00Z', 'open until 2026-03-29T02:00Z'],
  ['Sat 22:00-04:00 Europe/Berlin', '2026-10-24T20:00:00Z', 'open until 2026-10-25T03:00Z'],
  // Forward: 02:00 to 03:00 does not exist.
  ['02:30-04:00 Europe/Berlin', '2026-03-29T00:59:59Z', 'closed until 2026-03-29T01:00Z'],
  ['02:30-04:00 Europe/Berlin', '2026-03-29T01:00:00Z', 'open until 2026-03-29T02:00Z'],
  ['01:00-02:30 Europe/Berlin', '2026-03-29T00:59:59Z', 'open until 2026-03-29T01:00Z'],
  ['01:00-02:30 Europe/Berlin', '2026-03-29T01:00:00Z', 'closed until 2026-03-29T23:00Z'],
  ['02:10-02:50 Europe/Berlin', '2026-03-29T00:00:00Z', 'closed until 2026-03-30T00:10Z'],
  ['Sun 02:10-02:50 Europe/Berlin', '2026-03-29T01:00:00Z', 'closed until 2026-04-05T00:10Z'],
  ['04:00-05:00 Europe/Berlin', '2026-03-29T01:59:59Z', 'closed until 2026-03-29T02:00Z'],
  // Back: 02:00 to 03:00 occurs twice, and the first one counts.
  ['02:30-04:00 Europe/Berlin', '2026-10-25T00:29:59Z', 'closed until 2026-10-25T00:30Z'],
  ['02:30-04:00 Europe/Berlin', '2026-10-25T00:30:00Z', 'open until 2026-10-25T03:00Z'],
  ['02:30-04:00 Europe/Berlin', '2026-10-25T01:10:00Z', 'open until 2026-10-25T03:00Z'],
  ['01:00-02:30 Europe/Berlin', '2026-10-25T00:29:59Z', 'open until 2026-10-25T00:30Z'],
  ['01:00-02:30 Europe/Berlin', '2026-10-25T01:10:00Z', 'closed until 2026-10-26T00:00Z'],
  ['02:10-02:50 Europe/Berlin', '2026-10-25T00:10:00Z', 'open until 2026-10-25T00:50Z'],
  ['02:10-02:50 Europe/Berlin', '2026-10-25T01:20:00Z', 'closed until 2026-10-26T01:10Z'],
  ['04:00-05:00 Europe/Berlin', '2026-10-25T02:59:59Z', 'closed until 2026-10-25T03:00Z'],
];

const ZONES: readonly (readonly [window: string, now: string, expected: string])[] = [
  // America/New_York: forward on 2026-03-08 at 07:00Z, back on 2026-11-01 at 06:00Z.
  ['04:00-05:00 America/New_York', '2026-03-07T08:59:00Z', 'closed until 2026-03-07T09:00Z'],
  ['04:00-05:00 America/New_York', '2026-03-08T08:00:00Z', 'open until 2026-03-08T09:00Z'],
  ['04:00-05:00 America/New_York', '2026-11-01T08:59:00Z', 'closed until 2026-11-01T09:00Z'],
  ['02:00-03:00 America/New_York', '2026-03-08T06:00:00Z', 'closed until 2026-03-09T06:00Z'],
  ['01:00-02:00 America/New_York', '2026-11-01T05:00:00Z', 'open until 2026-11-01T07:00Z'],
  ['Sun 23:00-01:00 America/New_York', '2026-11-02T04:00:00Z', 'open until 2026-11-02T06:00Z'],
  // Asia/Shanghai has no clock changes.
  ['18:00-08:00 Asia/Shanghai', '2026-03-29T10:00:00Z', 'open until 2026-03-30T00:00Z'],
  ['18:00-08:00 Asia/Shanghai', '2026-03-30T00:00:00Z', 'closed until 2026-03-30T10:00Z'],
  ['Sat 00:00-12:00 Asia/Shanghai', '2026-03-27T16:00:00Z', 'open until 2026-03-28T04:00Z'],
  // Asia/Kolkata is 5 h 30 min ahead.
  ['09:00-17:00 Asia/Kolkata', '2026-06-01T03:29:59Z', 'closed until 2026-06-01T03:30Z'],
  ['09:00-17:00 Asia/Kolkata', '2026-06-01T03:30:00Z', 'open until 2026-06-01T11:30Z'],
  // Australia/Lord_Howe changes by 30 minutes: forward on 2026-10-03 at 15:30Z, back on 2026-04-04 at 15:00Z.
  ['04:00-05:00 Australia/Lord_Howe', '2026-10-03T17:00:00Z', 'open until 2026-10-03T18:00Z'],
  ['02:10-02:20 Australia/Lord_Howe', '2026-10-03T15:30:00Z', 'closed until 2026-10-04T15:10Z'],
  ['01:45-03:00 Australia/Lord_Howe', '2026-04-04T14:45:00Z', 'open until 2026-04-04T16:30Z'],
  // Pacific/Apia skipped Friday 2011-12-30.
  ['Fri 09:00-17:00 Pacific/Apia', '2011-12-29T12:00:00Z', 'closed until 2012-01-05T19:00Z'],
  ['23:00-22:59 UTC', '2026-01-01T22:59:30Z', 'closed until 2026-01-01T23:00Z'],
];

describe('windowState', () => {
  it.each([...BERLIN, ...ZONES])('decides for %s at %s: %s', (window, now, expected) => {
    expect(describeState([parseWindow(window)], now)).toBe(expected);
  });

  it.each<[name: string, windows: readonly string[], now: string, expected: string]>([
    [
      'opens with the first',
      ['20:00-21:00 UTC', '10:00-11:00 UTC'],
      '2026-01-01T01:00:00Z',
      'closed until 2026-01-01T10:00Z',
    ],
    [
      'closes with the last of overlapping ones',
      ['10:00-12:00 UTC', '11:00-14:00 UTC'],
      '2026-01-01T10:30:00Z',
      'open until 2026-01-01T14:00Z',
    ],
    [
      'closes with the last of touching ones',
      ['10:00-12:00 UTC', '12:00-13:00 UTC'],
      '2026-01-01T10:30:00Z',
      'open until 2026-01-01T13:00Z',
    ],
    [
      'never closes if they cover every day',
      ['00:00-12:00 UTC', '12:00-00:00 UTC'],
      '2026-01-01T10:30:00Z',
      'open until never',
    ],
    [
      'closes at the gap of the week',
      ['Mon,Tue 00:00-12:00 UTC', 'Mon,Tue 12:00-00:00 UTC'],
      '2026-01-05T01:00:00Z',
      'open until 2026-01-07T00:00Z',
    ],
  ])('treats several windows as one: %s', (_, windows, now, expected) => {
    expect(describeState(windows.map(parseWindow), now)).toBe(expected);
  });

  it('refuses an unknown time zone', () => {
    expect(() => windowState([parseWindow('09:00-16:00 Mars/Olympus')], new Date(0))).toThrow('Mars/Olympus');
  });

  it('keeps its state until the named moment, and changes then', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata'];
    const clockTime = fc
      .integer({ min: 0, max: 24 * 60 - 1 })
      .map((minutes) =>
        [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, '0')).join(':'),
      );
    const anyWindow = fc
      .record({
        start: clockTime,
        end: clockTime,
        timeZone: fc.constantFrom(...zones),
        name: fc.constant('any'),
      })
      .filter(({ start, end }) => start !== end);
    const anyMoment = fc.date({
      min: new Date('2026-01-01Z'),
      max: new Date('2027-01-01Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(
        anyWindow,
        anyMoment,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (window, now, part) => {
          const { open, changesAt = new Date(Number.NaN) } = windowState([window], now);
          const between = new Date(+now + Math.floor((+changesAt - +now) * part));
          expect(windowState([window], between).open).toBe(open);
          expect(windowState([window], changesAt).open).toBe(open ? undefined : window);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('windowLimit', () => {
  const window = parseWindow('09:00-16:00 UTC');

  it('allows everything without windows, and in a window', () => {
    expect(windowLimit([], new Date('2026-01-01T08:00:00Z'))).toBeUndefined();
    expect(windowLimit([window], new Date('2026-01-01T09:00:00Z'))).toBeUndefined();
  });

  it('allows nothing outside, and names the next opening', () => {
    expect(windowLimit([window], new Date('2026-01-01T16:00:00Z'))).toEqual({
      slots: 0,
      reason: 'OutsideWindow',
      because: 'outside of the windows (work): the next one opens at 2026-01-02T09:00:00.000Z',
      until: new Date('2026-01-02T09:00:00Z'),
    });
  });
});

describe('freezeLimit', () => {
  const freeze: Freeze = {
    name: 'sale',
    from: '2026-11-10T00:00:00+08:00',
    until: '2026-11-12T12:00:00+08:00',
    reason: 'double eleven',
  };

  it.each([
    ['2026-11-09T15:59:59Z', false],
    ['2026-11-09T16:00:00Z', true],
    ['2026-11-12T03:59:59Z', true],
    ['2026-11-12T04:00:00Z', false],
  ])('is active at %s: %s', (now, isActive) => {
    expect(freezeLimit([freeze], new Date(now)) !== undefined).toBe(isActive);
  });

  it('names the freeze that ends last', () => {
    const longer = { ...freeze, name: 'audit', until: '2026-12-01T00:00:00Z', reason: 'audit of the year' };
    const now = new Date('2026-11-11T00:00:00Z');
    expect(activeFreeze([freeze, longer], now)).toBe(longer);
    expect(freezeLimit([freeze, longer], now)).toEqual({
      slots: 0,
      reason: 'Freeze',
      because: 'freeze audit until 2026-12-01T00:00:00.000Z: audit of the year',
      until: new Date('2026-12-01T00:00:00Z'),
    });
  });
});
