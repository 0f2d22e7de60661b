import { describe, expect, it } from 'vitest';
import { readRetryAfterMs } from '../../../src/os/net/retry-after.ts';
import { NOW } from '../../support/virtual-clock.ts';

describe('readRetryAfterMs', () => {
  it.each<[name: string, header: string | null, ms: number | undefined]>([
    ['seconds', '30', 30_000],
    ['seconds with spaces', ' 2 ', 2000],
    ['zero', '0', 0],
    ['a date', new Date(NOW.getTime() + 90_000).toUTCString(), 90_000],
    ['a date in the past', new Date(NOW.getTime() - 90_000).toUTCString(), 0],
    ['no header', null, undefined],
    ['a text', 'later', undefined],
    ['a negative number', '-5s', undefined],
  ])('reads %s', (_name, header, ms) => {
    expect(readRetryAfterMs(header, NOW)).toBe(ms);
  });
});
