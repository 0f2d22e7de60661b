import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../../src/kube/queue/priorities.ts';
import { createWorkQueue, type WorkQueue } from '../../../src/kube/queue/queue.ts';
import { runs } from '../../support/long.ts';
import { NOW, settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

function queueAt(
  clock: VirtualClock,
  options: Partial<Parameters<typeof createWorkQueue>[0]> = {},
): WorkQueue {
  return createWorkQueue({ clock, random: () => 0, perSecond: 1e9, burst: 1e9, ...options });
}

/** What can be taken now, without ending the passes. */
async function taken(queue: WorkQueue): Promise<string[]> {
  await settle();
  const result: string[] = [];
  while (queue.depth > 0) result.push(String(await queue.take()));
  return result;
}

describe('createWorkQueue', () => {
  it('hands out each key once, in the order of their coming', async () => {
    const queue = queueAt(virtualClock());
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(await taken(queue)).toEqual(['a', 'b', 'c']);
  });

  it('never hands out a key that is in a pass, and again after the pass when it was added meanwhile', async () => {
    const queue = queueAt(virtualClock());
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await taken(queue)).toEqual(['a']);
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('gives a key to who waits for one, first come first served', async () => {
    const queue = queueAt(virtualClock());
    const [first, second] = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  it('refuses the end of a pass that never began', () => {
    expect(() => queueAt(virtualClock()).done('a')).toThrow('a is not in a pass');
  });

  it('remembers with which priority a key was added during its pass', async () => {
    const queue = queueAt(virtualClock());
    queue.add('a');
    await queue.take();
    queue.add('b');
    queue.add('a', 'background');
    queue.add('a', 'urgent');
    queue.add('a', 'normal');
    queue.done('a');
    expect(await taken(queue)).toEqual(['a', 'b']);
  });
});

describe('a delay', () => {
  it.each<[name: string, delays: number[], before: number, due: number]>([
    ['is kept', [100], 99, 1],
    ['is the earliest of several, said later', [100, 50], 49, 1],
    ['is the earliest of several, said first', [50, 100], 49, 1],
  ])('%s', async (_, all, before, due) => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    for (const ms of all) queue.addAfter('a', ms);
    await clock.advance(before);
    expect(queue.depth).toBe(0);
    await clock.advance(due);
    expect(await taken(queue)).toEqual(['a']);
    queue.done('a');
    await clock.advance(1000);
    expect(queue.depth).toBe(0);
  });

  it('of nothing is no delay', () => {
    const queue = queueAt(virtualClock());
    queue.addAfter('a', 0);
    expect(queue.depth).toBe(1);
  });

  it('comes up in order, however it was said', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    for (const ms of [70, 10, 50, 30, 60, 20, 40]) queue.addAfter(String(ms), ms);
    await clock.stall(100);
    expect(await taken(queue)).toEqual(['10', '20', '30', '40', '50', '60', '70']);
  });

  it('is in order also after many were brought forward', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    const keys = ['c', 'a', 'd', 'b', 'e'];
    for (let n = 200; n > 0; n -= 1) {
      for (const key of keys) queue.addAfter(key, n * 10 + key.charCodeAt(0));
    }
    await clock.stall(1000);
    expect(await taken(queue)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('of a key that waits anyway adds no second pass', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    queue.addAfter('a', 10);
    queue.add('a');
    await clock.advance(20);
    expect(await taken(queue)).toEqual(['a']);
  });

  it('costs one timer for all keys, and none when nothing is due', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    for (let n = 0; n < 1000; n += 1) queue.addAfter(`k${n}`, 1000 - n);
    await settle();
    expect(clock.sleepers).toBe(1);
    await clock.advance(1000);
    expect(queue.depth).toBe(1000);
    expect(clock.sleepers).toBe(0);
  });
});

describe('a moment to wake', () => {
  it.each<[name: string, moments: number[], want: number]>([
    ['is kept', [5000], 5000],
    ['is the earliest of several', [9000, 5000, 7000], 5000],
    ['may be hours away', [7_200_000], 7_200_000],
    ['has come at once when it is past', [-1], 0],
  ])('%s', async (_, moments, want) => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    for (const ms of moments) queue.addAt('a', inMs(ms));
    if (want > 0) await clock.advance(want - 1);
    expect(queue.depth).toBe(want > 0 ? 0 : 1);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('comes within a minute after the wall clock was set forward, or the machine slept', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    queue.addAt('a', inMs(3_600_000));
    await clock.advance(1);
    clock.jumpWall(3_600_000);
    await clock.advance(60_000);
    expect(queue.depth).toBe(1);
  });

  it('does not come before its time when the wall clock was set back', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    queue.addAt('a', inMs(5000));
    await clock.advance(1);
    clock.jumpWall(-100_000);
    await clock.advance(104_998);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('puts a key that is urgent at its moment ahead of those that wait, once', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
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

  it('is refused when it is no moment', () => {
    expect(() => queueAt(virtualClock()).addAt('a', new Date('never'))).toThrow(RangeError);
  });
});

describe('a retry', () => {
  it('doubles from 5 ms to 1000 s, and starts again after a success', () => {
    const queue = queueAt(virtualClock());
    const waits = Array.from({ length: 20 }, () => queue.retry('a'));
    expect(waits.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(waits.slice(-2)).toEqual([1_000_000, 1_000_000]);
    expect(queue.failures('a')).toBe(20);
    expect(queue.retry('b')).toBe(5);
    queue.forget('a');
    expect(queue.retry('a')).toBe(5);
  });

  it('takes up to half off by chance, never more', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat(40),
        (chance, before) => {
          const queue = queueAt(virtualClock(), { random: () => chance });
          for (let n = 0; n < before; n += 1) queue.retry('a');
          const longest = Math.min(1_000_000, 5 * 2 ** before);
          const wait = queue.retry('a');
          expect(wait).toBeLessThanOrEqual(longest);
          expect(wait).toBeGreaterThan(longest / 2 - 1e-6);
        },
      ),
    );
  });

  it('of many keys at once comes no faster than the bucket allows', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock, { perSecond: 10, burst: 20, maxMs: 5 });
    for (let n = 0; n < 50; n += 1) queue.retry(`k${n}`);
    await clock.advance(5);
    expect(queue.depth).toBe(20);
    await clock.advance(1000);
    expect(queue.depth).toBe(30);
    await clock.advance(2000);
    expect(queue.depth).toBe(50);
  });

  it('fills the bucket again while nothing fails, and not over its rim', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock, { perSecond: 10, burst: 2, maxMs: 5 });
    const three = (): number[] => ['a', 'b', 'c'].map((key) => queue.retry(key));
    expect(three()).toEqual([5, 5, 100]);
    await clock.advance(3_600_000);
    expect(three()).toEqual([5, 5, 100]);
  });
});

describe('priorities', () => {
  it.each<[name: string, adds: [string, Priority][], want: string]>([
    [
      'urgent comes first',
      [
        ['b', 'background'],
        ['n', 'normal'],
        ['u', 'urgent'],
      ],
      'u n b',
    ],
    [
      'a key moves up',
      [
        ['n', 'normal'],
        ['x', 'background'],
        ['x', 'urgent'],
      ],
      'x n',
    ],
    [
      'a key never moves down',
      [
        ['x', 'urgent'],
        ['n', 'normal'],
        ['x', 'background'],
      ],
      'x n',
    ],
    [
      'within one, who came first',
      [
        ['a', 'normal'],
        ['b', 'normal'],
        ['a', 'normal'],
      ],
      'a b',
    ],
  ])('%s', async (_, adds, want) => {
    expect(await orderOf(adds)).toBe(want);
  });

  it('leave no trace of a key in the lane that it left', async () => {
    const queue = queueAt(virtualClock());
    queue.add('x', 'background');
    queue.add('x', 'urgent');
    await queue.take();
    queue.add('y', 'background');
    expect(await queue.take()).toBe('y');
  });

  it('leave nobody behind: every eighth pass goes to the lane that was passed over', async () => {
    const queue = queueAt(virtualClock());
    queue.add('first', 'background');
    queue.add('second', 'background');
    for (let n = 0; n < 30; n += 1) queue.add(`u${n}`, 'urgent');
    const all = await taken(queue);
    expect(all.indexOf('first')).toBe(7);
    expect(all.indexOf('second')).toBe(15);
  });

  it('let a key that is added again and again not crowd out the others', async () => {
    const queue = queueAt(virtualClock());
    for (const key of ['hot', 'a', 'b', 'c']) queue.add(key);
    const seen: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const key = String(await queue.take());
      seen.push(key);
      queue.add('hot');
      queue.done(key);
    }
    expect(seen.slice(0, 5)).toEqual(['hot', 'a', 'b', 'c', 'hot']);
  });
});

describe('close', () => {
  it('drops what waits, and ends when the last pass ends', async () => {
    const clock = virtualClock();
    const queue = queueAt(clock);
    for (const key of ['a', 'b']) queue.add(key);
    queue.addAfter('c', 10);
    queue.addAt('d', new Date(NOW.getTime() + 10));
    await queue.take();
    queue.add('a');
    let ended = false;
    const closed = queue.close().then(() => (ended = true));
    queue.add('e');
    queue.addAfter('f', 10);
    queue.addAt('g', inMs(10));
    await settle();
    expect(clock.sleepers).toBe(0);
    await clock.advance(100);
    expect({ ended, depth: queue.depth, timers: clock.sleepers }).toEqual({
      ended: false,
      depth: 0,
      timers: 0,
    });
    queue.done('a');
    await closed;
    expect(await queue.take()).toBeUndefined();
  });

  it('works off first what waits, when told so, and takes nothing in', async () => {
    const queue = queueAt(virtualClock());
    for (const key of ['a', 'b']) queue.add(key);
    await queue.take();
    queue.add('a');
    const closed = queue.close('finish');
    queue.add('c');
    queue.done('a');
    expect([await queue.take(), await queue.take()]).toEqual(['b', 'a']);
    const last = queue.take();
    queue.done('b');
    queue.done('a');
    expect(await last).toBeUndefined();
    await closed;
  });

  it('tells those who wait', async () => {
    const queue = queueAt(virtualClock());
    const waiting = [queue.take(), queue.take()];
    await queue.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });
});

describe('metrics', () => {
  it('tell how long a key waited after it was due, and each retry', async () => {
    const clock = virtualClock();
    const waits: number[] = [];
    let retries = 0;
    const metrics = { taken: (seconds: number) => waits.push(seconds), retried: () => (retries += 1) };
    const queue = queueAt(clock, { metrics });
    queue.addAfter('a', 1000);
    await clock.advance(2000);
    queue.add('a');
    await clock.advance(2000);
    await queue.take();
    queue.add('a');
    await clock.advance(2000);
    queue.done('a');
    await clock.advance(500);
    await queue.take();
    queue.retry('a');
    expect({ waits, retries }).toEqual({ waits: [3, 0.5], retries: 1 });
  });
});

interface Step {
  readonly pauseMs: number;
  readonly act: 'add' | 'after' | 'wake' | 'retry';
  readonly key: string;
  readonly ms: number;
  readonly priority: Priority;
}

/** What somebody asked for: the moment from which on a pass answers it, and its place among all that happened. */
interface Ask {
  readonly key: string;
  readonly askedMs: number;
  readonly dueMs: number;
  readonly order: number;
}

interface Pass {
  readonly key: string;
  readonly startMs: number;
  readonly order: number;
}

describe('whatever happens', () => {
  const anyStep: fc.Arbitrary<Step> = fc.record({
    pauseMs: fc.constantFrom(0, 0, 1, 5, 50),
    act: fc.constantFrom('add', 'add', 'after', 'wake', 'retry'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    ms: fc.nat(100),
    priority: fc.constantFrom('urgent', 'normal', 'background'),
  });
  const anyPasses = fc.array(fc.nat(30), { minLength: 1, maxLength: 10 });
  const anyWorkers = fc.integer({ min: 1, max: 4 });

  it('no key is in two passes, no add is lost, nothing comes early, and no pass comes for nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 40 }),
        anyPasses,
        anyWorkers,
        async (steps, ms, workers) => {
          const { asks, passes } = await scenario(steps, ms, workers);
          for (const { key, askedMs, order } of asks) {
            // The earliest moment that was still to come counts, and answers for the others.
            const dues = asks
              .filter((ask) => ask.key === key && ask.dueMs >= askedMs)
              .map(({ dueMs }) => dueMs);
            const dueMs = Math.min(...dues);
            const answered = passes.some(
              (pass) => pass.key === key && pass.order > order && pass.startMs >= dueMs,
            );
            expect(answered, `a pass over ${key} from ${dueMs} ms on`).toBe(true);
          }
          for (const { key, startMs } of passes) {
            expect(asks.some((ask) => ask.key === key && ask.dueMs <= startMs)).toBe(true);
          }
          for (const key of 'abcde') expect(count(passes, key)).toBeLessThanOrEqual(count(asks, key));
        },
      ),
      runs(300, 10_000),
    );
  }, 600_000);

  async function scenario(
    steps: readonly Step[],
    passMs: readonly number[],
    workers: number,
  ): Promise<{ asks: Ask[]; passes: Pass[] }> {
    const clock = virtualClock();
    const queue = queueAt(clock, { random: () => 0.5, minMs: 8 });
    const passing = new Set<string>();
    const asks: Ask[] = [];
    const passes: Pass[] = [];
    let order = 0;

    async function work(): Promise<void> {
      for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
        expect(passing).not.toContain(key);
        passing.add(key);
        passes.push({ key, startMs: clock.monotonicMs(), order: (order += 1) });
        await clock.sleep(passMs[passes.length % passMs.length] ?? 1);
        passing.delete(key);
        queue.done(key);
      }
    }
    const all = Promise.all(Array.from({ length: workers }, work));

    for (const { pauseMs, ...step } of steps) {
      await clock.advance(pauseMs);
      const nowMs = clock.monotonicMs();
      order += 1;
      asks.push({ key: step.key, order, askedMs: nowMs, dueMs: nowMs + act(queue, clock, step) });
    }
    await clock.advance(10_000_000);
    await queue.close();
    await all;
    expect(clock.sleepers).toBe(0);
    return { asks, passes };
  }

  it('a hundred thousand keys go through without anybody walking over all of them', async () => {
    const few = await timeOf(20_000);
    const many = await timeOf(100_000);
    // Five times the keys: a queue that walks would need twenty-five times the time.
    expect(many / few).toBeLessThan(15);
  });
});

/** Returns how long until a pass may come. */
function act(queue: WorkQueue, clock: VirtualClock, step: Omit<Step, 'pauseMs'>): number {
  const { key, ms, priority } = step;
  if (step.act === 'retry') return queue.retry(key);
  if (step.act === 'add') {
    queue.add(key, priority);
    return 0;
  }
  if (step.act === 'after') queue.addAfter(key, ms);
  else queue.addAt(key, new Date(clock.now().getTime() + ms));
  return ms;
}

function count(list: readonly { readonly key: string }[], key: string): number {
  return list.filter((entry) => entry.key === key).length;
}

/** The best of three, because others use this machine as well. */
async function timeOf(size: number): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const queue = queueAt(virtualClock());
    for (let n = 0; n < size; n += 1) queue.add(`k${n}`);
    const start = performance.now();
    for (let n = 0; n < size; n += 1) queue.done(String(await queue.take()));
    times.push(performance.now() - start);
  }
  return Math.min(...times);
}

function inMs(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

async function orderOf(adds: readonly [string, Priority][]): Promise<string> {
  const queue = queueAt(virtualClock());
  for (const [key, priority] of adds) queue.add(key, priority);
  return (await taken(queue)).join(' ');
}
