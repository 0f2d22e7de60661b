import { describe, expect, it } from 'vitest';
import { parseTimeLayout } from '../../../../src/agent/detector/config/time-layout.ts';

const NOW = new Date('2030-03-01T00:00:00Z');

describe('time layout', () => {
  it.each([
    ['Jan _2 15:04:05 Z07:00', 'Feb  3 07:08:09 Z', '2030-02-03T07:08:09.000Z'],
    ['Jan _2 15:04:05 Z07:00', 'Dec 31 23:59:59 Z', '2030-12-31T23:59:59.000Z'],
    [
      '2006-01-02T15:04:05.999999999Z07:00',
      '2029-12-24T06:40:54.123456789+02:00',
      '2029-12-24T04:40:54.123Z',
    ],
    ['2006-01-02T15:04:05Z07:00', '2029-12-24T06:40:54.5Z', '2029-12-24T06:40:54.500Z'],
    ['2006-01-02 15:04:05.000 -0700', '2029-12-24 06:40:54.250 -0130', '2029-12-24T08:10:54.250Z'],
    ['02/Jan/06 03:04:05 PM MST', '24/Dec/29 12:40:54 AM UTC', '2029-12-24T00:40:54.000Z'],
    ['Monday, January 2 3:4:5 pm 2006 Z0700', 'Tuesday, May 8 1:2:3 pm 2029 Z', '2029-05-08T13:02:03.000Z'],
  ])('reads by %s: %s', (layout, text, time) => {
    expect(parse(layout, text)).toEqual(new Date(time));
  });

  it('takes a time without zone as one of this machine', () => {
    expect(parse('2006-01-02 15:04:05', '2029-12-24 06:40:54')).toEqual(new Date(2029, 11, 24, 6, 40, 54));
  });

  it.each([
    ['Jan _2 15:04:05', 'Foo  3 07:08:09'],
    ['Jan _2 15:04:05', 'Feb 30 07:08:09'],
    ['Jan _2 15:04:05', 'Feb  3 27:08:09'],
    ['2006-01-02 15:04:05.000', '2029-12-24 06:40:54.1'],
    ['2006-01-02 15:04:05', '2029-12-24 06:40:54 and more'],
  ])('finds no time by %s: %s', (layout, text) => {
    expect(parse(layout, text)).toBeUndefined();
  });

  it('refuses a layout without any part of the reference time', () => {
    expect(parseTimeLayout('%Y-%b')).toContain('has no part');
  });
});

function parse(layout: string, text: string): Date | undefined {
  const parsed = parseTimeLayout(layout);
  return typeof parsed === 'string' ? undefined : parsed.parse(text, NOW);
}
