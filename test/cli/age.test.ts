import { describe, expect, it } from 'vitest';
import { formatAge, shortCommit } from '../../src/cli/age.ts';
import { COMMIT, NOW } from './commands/builders.ts';

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
