import { describe, expect, it } from 'vitest';
import { createSignInLimits } from '../../../src/console/login/attempts.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('createSignInLimits', () => {
  it('CON-25 lets an address fail twenty times, then once every five seconds', async () => {
    const clock = virtualClock();
    const limits = createSignInLimits(clock);
    for (let attempt = 0; attempt < 20; attempt += 1) {
      expect(limits.waitSeconds('a')).toBe(0);
      limits.failed('a');
    }
    expect([limits.waitSeconds('a'), limits.waitSeconds('b')]).toEqual([5, 0]);
    await clock.advance(5000);
    expect(limits.waitSeconds('a')).toBe(0);
    limits.failed('a');
    expect(limits.waitSeconds('a')).toBe(5);
  });

  it('CON-25 lets all addresses together fail a hundred times, then twice a second', async () => {
    const clock = virtualClock();
    const limits = createSignInLimits(clock);
    for (let address = 0; address < 100; address += 1) limits.failed(`a-${address}`);
    expect(limits.waitSeconds('another')).toBe(1);
    await clock.advance(500);
    expect(limits.waitSeconds('another')).toBe(0);
  });

  it('CON-25 keeps no debt: whoever fails thousands of times at once locks out nobody for longer', async () => {
    const clock = virtualClock();
    const limits = createSignInLimits(clock);
    for (let attempt = 0; attempt < 5000; attempt += 1) limits.failed('a');
    expect([limits.waitSeconds('a'), limits.waitSeconds('b')]).toEqual([5, 1]);
    await clock.advance(5000);
    expect(limits.waitSeconds('a')).toBe(0);
  });

  it('CON-25 asks the API server four questions at once', () => {
    const limits = createSignInLimits(virtualClock());
    const leaves = Array.from({ length: 4 }, () => limits.enter());
    expect(limits.enter()).toBeUndefined();
    leaves[0]?.();
    expect(limits.enter()).toBeDefined();
    expect(limits.enter()).toBeUndefined();
  });

  it('remembers a thousand addresses, and those whose failures are over make place', async () => {
    const clock = virtualClock();
    const limits = createSignInLimits(clock);
    const failTwenty = (address: string): void => {
      for (let attempt = 0; attempt < 20; attempt += 1) limits.failed(address);
    };
    for (let address = 0; address < 1000; address += 1) limits.failed(`a-${address}`);
    failTwenty('late');
    // The bucket of all is far behind: a long time later only the one of the address counts.
    await clock.advance(3_600_000);
    expect(limits.waitSeconds('late')).toBe(0);
    failTwenty('later');
    expect(limits.waitSeconds('later')).toBe(5);
    expect(limits.waitSeconds('a-1')).toBe(0);
  });
});
