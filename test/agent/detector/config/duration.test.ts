import { describe, expect, it } from 'vitest';
import { parseGoDuration } from '../../../../src/agent/detector/config/duration.ts';

describe('duration', () => {
  it.each([
    ['0', 0],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['300ms', 300],
    ['250us', 0.25],
    ['+2s', 2000],
    ['.5s', 500],
  ])('reads %s as Go does', (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
  });

  it.each(['', '5', '5 m', 'm', '-5m', '5d', '1h-3m'])('refuses %j', (text) => {
    expect(parseGoDuration(text)).toBeUndefined();
  });
});
