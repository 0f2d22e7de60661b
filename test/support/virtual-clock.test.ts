import { describe, expect, it } from 'vitest';
import { NOW, settle, virtualClock } from './virtual-clock.ts';

describe('the virtual clock', () => {
  it('ends sleeps in the order in which they are due, each at its own time', async () => {
    const clock = virtualClock();
    const woken: string[] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['soon', 10],
      ['also soon', 10],
      ['never', 31],
    ] as const) {
      void clock.sleep(ms).then(() => woken.push(`${name} at ${clock.monotonicMs()}`));
    }
    await clock.advance(30);
    expect(woken).toEqual(['soon at 10', 'also soon at 10', 'late at 30']);
    expect(clock.sleepers).toBe(1);
    expect(clock.now()).toEqual(new Date(NOW.getTime() + 30));
  });

  it('lets a sleeper sleep again within the same period', async () => {
    const clock = virtualClock();
    const ticks: number[] = [];
    const ticking = (async () => {
      while (ticks.length < 3) {
        await clock.sleep(10);
        ticks.push(clock.monotonicMs());
      }
    })();
    await clock.advance(100);
    await ticking;
    expect(ticks).toEqual([10, 20, 30]);
    expect(clock.monotonicMs()).toBe(100);
  });

  it('rejects a sleep with the reason of its signal, before and while it sleeps', async () => {
    const clock = virtualClock();
    const reason = new Error('enough');
    const controller = new AbortController();
    const asleep = clock.sleep(10, controller.signal);
    controller.abort(reason);
    await expect(asleep).rejects.toBe(reason);
    await expect(clock.sleep(10, controller.signal)).rejects.toBe(reason);
    expect(clock.sleepers).toBe(0);
  });

  it('sets the wall clock without ending a sleep', async () => {
    const clock = virtualClock();
    const woken: string[] = [];
    void clock.sleep(10).then(() => woken.push('woken'));
    clock.jumpWall(-3_600_000);
    await settle();
    expect([clock.now(), clock.monotonicMs(), woken]).toEqual([new Date('2030-01-01T11:00:00Z'), 0, []]);
  });

  it('ends all sleeps late after a stall', async () => {
    const clock = virtualClock();
    const woken: number[] = [];
    void clock.sleep(10).then(() => woken.push(clock.monotonicMs()));
    void clock.sleep(20).then(() => woken.push(clock.monotonicMs()));
    await clock.stall(50);
    expect(woken).toEqual([50, 50]);
  });

  it('advances from sleeper to sleeper, and returns false when there is none', async () => {
    const clock = virtualClock();
    void clock.sleep(5000);
    expect(await clock.advanceToNext()).toBe(true);
    expect(clock.monotonicMs()).toBe(5000);
    expect(await clock.advanceToNext()).toBe(false);
  });
});
