import { describe, expect, it } from 'vitest';
import { createTestQueue, inMs, takeAll } from '../../support/kube/queue-bed.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

describe('a delay', () => {
  it.each<[name: string, delays: number[], before: number, due: number]>([
    ['applies', [100], 99, 1],
    ['is the earliest of several, added last', [100, 50], 49, 1],
    ['is the earliest of several, added first', [50, 100], 49, 1],
  ])('%s', async (_, all, before, due) => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    for (const ms of all) queue.addAfter('a', ms);
    await clock.advance(before);
    expect(queue.depth).toBe(0);
    await clock.advance(due);
    expect(await takeAll(queue)).toEqual(['a']);
    queue.done('a');
    await clock.advance(1000);
    expect(queue.depth).toBe(0);
  });

  it('of zero adds at once', () => {
    const queue = createTestQueue(virtualClock());
    queue.addAfter('a', 0);
    expect(queue.depth).toBe(1);
  });

  it('expires in order, in whatever order it was added', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    for (const ms of [70, 10, 50, 30, 60, 20, 40]) queue.addAfter(String(ms), ms);
    await clock.stall(100);
    expect(await takeAll(queue)).toEqual(['10', '20', '30', '40', '50', '60', '70']);
  });

  it('expires in order after many were moved forward', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    const keys = ['c', 'a', 'd', 'b', 'e'];
    for (let n = 200; n > 0; n -= 1) {
      for (const key of keys) queue.addAfter(key, n * 10 + key.charCodeAt(0));
    }
    await clock.stall(1000);
    expect(await takeAll(queue)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('of a key that already waits adds it only once', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    queue.addAfter('a', 10);
    queue.add('a');
    await clock.advance(20);
    expect(await takeAll(queue)).toEqual(['a']);
  });

  it('uses one timer for all keys, and none when nothing is due', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    for (let n = 0; n < 1000; n += 1) queue.addAfter(`k${n}`, 1000 - n);
    await settle();
    expect(clock.sleepers).toBe(1);
    await clock.advance(1000);
    expect(queue.depth).toBe(1000);
    expect(clock.sleepers).toBe(0);
  });
});

describe('a time of the wall clock', () => {
  it.each<[name: string, moments: number[], want: number]>([
    ['applies', [5000], 5000],
    ['is the earliest of several', [9000, 5000, 7000], 5000],
    ['may be hours away', [7_200_000], 7_200_000],
    ['adds at once when it has passed', [-1], 0],
  ])('%s', async (_, moments, want) => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    for (const ms of moments) queue.addAt('a', inMs(ms));
    if (want > 0) await clock.advance(want - 1);
    expect(queue.depth).toBe(want > 0 ? 0 : 1);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('expires within a minute after the wall clock was set forward or the machine slept', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    queue.addAt('a', inMs(3_600_000));
    await clock.advance(1);
    clock.jumpWall(3_600_000);
    await clock.advance(60_000);
    expect(queue.depth).toBe(1);
  });

  it('does not expire early when the wall clock was set back', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    queue.addAt('a', inMs(5000));
    await clock.advance(1);
    clock.jumpWall(-100_000);
    await clock.advance(104_998);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('may add a key as urgent, once', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
    queue.addAt('urgent', inMs(10), 'urgent');
    queue.addAt('due', inMs(5));
    await clock.advance(10);
    queue.add('normal');
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(['urgent', 'due', 'normal']);
    for (const key of ['urgent', 'due', 'normal']) queue.done(key);
    queue.addAt('urgent', inMs(20));
    queue.add('normal');
    await clock.advance(10);
    expect([await queue.take(), await queue.take()]).toEqual(['normal', 'urgent']);
  });

  it('is rejected when it is not a valid date', () => {
    expect(() => createTestQueue(virtualClock()).addAt('a', new Date('never'))).toThrow(RangeError);
  });
});
