import { describe, expect, it } from 'vitest';
import { type CallWindow, createCallWindow } from '../../../src/defender/facts/call-window.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

function bed(): { readonly clock: VirtualClock; readonly calls: CallWindow } {
  const clock = virtualClock();
  return { clock, calls: createCallWindow(clock) };
}

function add(calls: CallWindow, codes: string, serverTime?: Date): void {
  for (const code of codes.split(' ')) {
    calls.add({ verb: 'get', code, seconds: 0.1, ...(serverTime ? { serverTime } : {}) });
  }
}

describe('the window of calls', () => {
  it('R20 counts the requests of the last minute that the server failed to answer', async () => {
    const { clock, calls } = bed();
    expect(calls.errorPercent()).toBeUndefined();
    add(calls, '200 404 409 500 429 Unreachable Timeout 201 Aborted');
    expect(calls.errorPercent()).toBe(50);
    await clock.advance(58_000);
    add(calls, '200 200');
    expect(calls.errorPercent()).toBe(40);
    await clock.advance(4000);
    expect(calls.errorPercent()).toBe(0);
    await clock.advance(60_000);
    expect(calls.errorPercent()).toBeUndefined();
  });

  it('R20 measures the difference of the clocks, in both directions, and forgets it after a minute', async () => {
    const { clock, calls } = bed();
    expect(calls.skewSeconds()).toBeUndefined();
    add(calls, '200', new Date(+clock.now() - 900));
    expect(calls.skewSeconds()).toBe(0);
    clock.jumpWall(45_000);
    add(calls, '200', new Date(+clock.now() - 45_000));
    expect(calls.skewSeconds()).toBe(45);
    add(calls, '200', new Date(+clock.now() + 31_000));
    add(calls, 'Unreachable');
    expect(calls.skewSeconds()).toBe(-31);
    await clock.advance(61_000);
    expect(calls.skewSeconds()).toBeUndefined();
  });

  it('R20 remembers for a minute how far the clocks differed before they agreed again', async () => {
    const { clock, calls } = bed();
    expect(calls.worstSkewSeconds()).toBeUndefined();
    add(calls, '200', new Date(+clock.now() + 40_000));
    await clock.advance(50_000);
    add(calls, '200', clock.now());
    expect([calls.skewSeconds(), calls.worstSkewSeconds()]).toEqual([0, -40]);
    await clock.advance(15_000);
    expect(calls.worstSkewSeconds()).toBe(0);
  });
});
