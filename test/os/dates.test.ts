import { describe, expect, it } from 'vitest';
import { parseZonedTime } from '../../src/os/dates.ts';

describe('parseZonedTime', () => {
  it.each([
    ['2030-12-20T18:00Z', '2030-12-20T18:00:00.000Z'],
    ['2030-12-20T18:00:30+01:00', '2030-12-20T17:00:30.000Z'],
    ['2028-02-29T23:30-01:00', '2028-03-01T00:30:00.000Z'],
    ['2030-02-29T18:00Z', undefined],
    ['2030-02-30T18:00Z', undefined],
    ['2030-04-31T23:30-01:00', undefined],
    ['2030-13-01T18:00Z', undefined],
    ['2030-00-00T18:00Z', undefined],
    ['2030-12-20T25:00Z', undefined],
    ['2030-12-20T18:00', undefined],
    ['2030-12-20', undefined],
    ['', undefined],
  ])('S36 a time of a freeze, %j, is %s', (text, expected) => {
    expect(parseZonedTime(text)?.toISOString()).toBe(expected);
  });
});
