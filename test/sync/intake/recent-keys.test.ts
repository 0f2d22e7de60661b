import { describe, expect, it } from 'vitest';
import { createRecentKeys } from '../../../src/sync/intake/recent-keys.ts';

describe('createRecentKeys', () => {
  it('knows a key for a minute', () => {
    const keys = createRecentKeys();
    expect([keys.add('a', 0), keys.add('a', 59_999), keys.add('a', 60_000)]).toEqual([true, false, true]);
  });

  it('forgets a key that is removed', () => {
    const keys = createRecentKeys();
    keys.add('a', 0);
    keys.remove('a');
    expect(keys.add('a', 1)).toBe(true);
  });

  it('forgets the oldest of a thousand keys, and no other', () => {
    const keys = createRecentKeys();
    for (let n = 0; n < 1001; n += 1) keys.add(String(n), 0);
    expect([keys.add('1', 1), keys.add('0', 1)]).toEqual([false, true]);
  });
});
