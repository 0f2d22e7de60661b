import { describe, expect, it } from 'vitest';
import { formatAge, relativeTimes, shortCommit, withoutTimes } from '../../../src/views/text/age.ts';
import { COMMIT, NOW } from '../../cli/commands/builders.ts';

describe('formatAge', () => {
  it.each([
    ['2030-01-01T11:59:18Z', '42s'],
    ['2030-01-01T11:53:00Z', '7m'],
    ['2030-01-01T09:00:00Z', '3h'],
    ['2029-12-20T12:00:00Z', '12d'],
    ['2030-01-01T12:00:05Z', '0s'],
    ['', '-'],
    [undefined, '-'],
  ])('formats %s as %s', (since, age) => {
    expect(formatAge(since, NOW)).toBe(age);
  });

  it('shortens commits to the length in names of Releases', () => {
    expect([shortCommit(COMMIT), shortCommit('')]).toEqual(['aaaaaaaaaaaa', '-']);
  });
});

describe('relativeTimes', () => {
  it.each([
    ['soaks until 2030-01-01T12:04:00.123Z', 'soaks for another 4m'],
    ['it soaked until 2030-01-01T11:56:00Z, then failed', 'it soaked until 4m ago, then failed'],
    ['prod has not answered since 2030-01-01T11:00:00Z: refused', 'prod has not answered for 60m: refused'],
    ['healthy and in sync at 2030-01-01T11:59:00.999Z', 'healthy and in sync 59s ago'],
    ['opens at 2030-01-01T14:00:00Z', 'opens in 2h'],
    ['2030-01-01T11:59:30Z was the last', '30s ago was the last'],
    ['release 2030-01-01', 'release 2030-01-01'],
  ])('writes the times of "%s" as ages', (text, expected) => {
    expect(relativeTimes(text, NOW)).toBe(expected);
  });
});

describe('withoutTimes', () => {
  it('makes texts equal that differ only by when they were read', () => {
    expect(withoutTimes('in sync at 2030-01-01T11:59:00.999Z')).toBe(
      withoutTimes('in sync at 2030-01-01T12:00:00Z'),
    );
    expect(withoutTimes('renewed 20s ago')).toBe(withoutTimes('renewed 3h ago'));
    expect(withoutTimes('renewed by a')).not.toBe(withoutTimes('renewed by b'));
  });
});
