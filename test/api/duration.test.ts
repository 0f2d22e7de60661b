import { describe, expect, it } from 'vitest';
import { durationSeconds } from '../../src/api/duration.ts';

describe('durationSeconds', () => {
  it.each([
    ['90s', 90],
    ['3m', 180],
    ['2h', 7200],
    ['366d', 366 * 86_400],
  ])('reads %s', (text, seconds) => {
    expect(durationSeconds(text)).toBe(seconds);
  });

  it.each(['', '3', 'm', '0m', '-1m', '1.5h', '3 m', '1h30m', '367d', '01m'])('refuses %j', (text) => {
    expect(durationSeconds(text)).toBeUndefined();
  });
});
