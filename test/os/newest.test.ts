import { describe, expect, it } from 'vitest';
import { setNewest } from '../../src/os/newest.ts';

describe('setNewest', () => {
  it('forgets what was set longest ago', () => {
    const map = new Map<string, number>();
    for (const [value, key] of ['a', 'b', 'a', 'c'].entries()) setNewest(map, key, value, 2);
    expect([...map]).toEqual([
      ['a', 2],
      ['c', 3],
    ]);
  });
});
