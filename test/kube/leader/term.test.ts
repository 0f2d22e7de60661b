import { describe, expect, it } from 'vitest';
import { createTerm, LeaseLost, readMoment, type TermState } from '../../../src/kube/leader/term.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

describe('createTerm', () => {
  it('is held until its time is over, counted from when the renewal was sent', async () => {
    const { clock, term } = start();
    await clock.advance(999);
    expect([term.held(), term.leftMs()]).toEqual([true, 1]);
    await clock.advance(1);
    expect([term.held(), term.leftMs()]).toEqual([false, 0]);
    expect(() => term.fence()).toThrow('lease system/a is no longer held: it was not renewed in time');
    expect(term.lost.aborted).toBe(false);
    term.renewed({ ...readMoment(clock), monotonicMs: clock.monotonicMs() - 400 });
    expect(term.leftMs()).toBe(600);
  });

  it('uses the clock that shows more elapsed time', () => {
    const { clock, term } = start();
    clock.jumpWall(600);
    expect(term.leftMs()).toBe(400);
    clock.jumpWall(-10_000);
    expect(term.leftMs()).toBe(1000);
  });

  it('stays ended, with its first reason', () => {
    const { clock, term } = start();
    term.end('taken');
    term.end('released');
    term.renewed(readMoment(clock));
    expect([term.held(), term.leftMs()]).toEqual([false, 0]);
    expect(term.lost.reason).toMatchObject({ code: 'LeaseLost', because: 'taken' });
    expect(() => term.fence()).toThrow(LeaseLost);
  });
});

function start(): { clock: VirtualClock; term: TermState } {
  const clock = virtualClock();
  const sentAt = readMoment(clock);
  return { clock, term: createTerm({ lease: 'system/a', epoch: 1, clock, validMs: 1000, sentAt }) };
}
