import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Priority } from '../../../src/kube/queue/priorities.ts';
import type { WorkQueue } from '../../../src/kube/queue/queue.ts';
import { createTestQueue, inMs, takeAll } from '../../support/kube/queue-bed.ts';
import { runs } from '../../support/sweep-size.ts';
import { NOW, settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

describe('createWorkQueue', () => {
  it('returns each key once, in the order of adding', async () => {
    const queue = createTestQueue(virtualClock());
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(await takeAll(queue)).toEqual(['a', 'b', 'c']);
  });

  it('never returns a key that is being processed, and returns it again afterwards when it was added meanwhile', async () => {
    const queue = createTestQueue(virtualClock());
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a']);
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  it('serves waiting takers in order', async () => {
    const queue = createTestQueue(virtualClock());
    const [first, second] = [queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  it('rejects done for a key that was not taken', () => {
    expect(() => createTestQueue(virtualClock()).done('a')).toThrow('cannot finish a: it was not taken');
  });

  it('remembers the priority of a key that was added while it was processed', async () => {
    const queue = createTestQueue(virtualClock());
    queue.add('a');
    await queue.take();
    queue.add('b');
    queue.add('a', 'background');
    queue.add('a', 'urgent');
    queue.add('a', 'normal');
    queue.done('a');
    expect(await takeAll(queue)).toEqual(['a', 'b']);
  });
});

describe('close', () => {
  it('drops waiting keys, and resolves when the last key is done', async () => {
    const clock = virtualClock();
    const queue = createTestQueue(clock);
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

  it('can finish waiting keys first, and accepts no new ones', async () => {
    const queue = createTestQueue(virtualClock());
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

  it('ends waiting takers', async () => {
    const queue = createTestQueue(virtualClock());
    const waiting = [queue.take(), queue.take()];
    await queue.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
  });
});

describe('metrics', () => {
  it('report how long a key waited after it was due, and each retry', async () => {
    const clock = virtualClock();
    const waits: number[] = [];
    let retries = 0;
    const metrics = { taken: (seconds: number) => waits.push(seconds), retried: () => (retries += 1) };
    const queue = createTestQueue(clock, { metrics });
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
  readonly act: 'add' | 'after' | 'at' | 'retry';
  readonly key: string;
  readonly ms: number;
  readonly priority: Priority;
}

/** A request for a reconcile: the earliest time that satisfies it, and its position among all that happened. */
interface Request {
  readonly key: string;
  readonly requestedMs: number;
  readonly dueMs: number;
  readonly order: number;
}

interface Run {
  readonly key: string;
  readonly startMs: number;
  readonly order: number;
}

describe('random use', () => {
  const anyStep: fc.Arbitrary<Step> = fc.record({
    pauseMs: fc.constantFrom(0, 0, 1, 5, 50),
    act: fc.constantFrom('add', 'add', 'after', 'at', 'retry'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    ms: fc.nat(100),
    priority: fc.constantFrom('urgent', 'normal', 'background'),
  });
  const anyRunTimes = fc.array(fc.nat(30), { minLength: 1, maxLength: 10 });
  const anyWorkers = fc.integer({ min: 1, max: 4 });

  it('never processes a key twice at once, loses no add, returns nothing early, and nothing without a request', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { maxLength: 40 }),
        anyRunTimes,
        anyWorkers,
        async (steps, ms, workers) => {
          const { requests, runsOfKeys } = await scenario(steps, ms, workers);
          for (const { key, requestedMs, order } of requests) {
            // The earliest pending time applies, and satisfies the others.
            const dues = requests
              .filter((request) => request.key === key && request.dueMs >= requestedMs)
              .map(({ dueMs }) => dueMs);
            const dueMs = Math.min(...dues);
            const satisfied = runsOfKeys.some(
              (run) => run.key === key && run.order > order && run.startMs >= dueMs,
            );
            expect(satisfied, `a run of ${key} from ${dueMs} ms on`).toBe(true);
          }
          for (const { key, startMs } of runsOfKeys) {
            expect(requests.some((request) => request.key === key && request.dueMs <= startMs)).toBe(true);
          }
          for (const key of 'abcde') expect(count(runsOfKeys, key)).toBeLessThanOrEqual(count(requests, key));
        },
      ),
      runs(300, 10_000),
    );
  });

  async function scenario(
    steps: readonly Step[],
    runMs: readonly number[],
    workers: number,
  ): Promise<{ requests: Request[]; runsOfKeys: Run[] }> {
    const clock = virtualClock();
    const queue = createTestQueue(clock, { random: () => 0.5, minMs: 8 });
    const processing = new Set<string>();
    const requests: Request[] = [];
    const runsOfKeys: Run[] = [];
    let order = 0;

    async function work(): Promise<void> {
      for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
        expect(processing).not.toContain(key);
        processing.add(key);
        runsOfKeys.push({ key, startMs: clock.monotonicMs(), order: (order += 1) });
        await clock.sleep(runMs[runsOfKeys.length % runMs.length] ?? 1);
        processing.delete(key);
        queue.done(key);
      }
    }
    const all = Promise.all(Array.from({ length: workers }, work));

    for (const { pauseMs, ...step } of steps) {
      await clock.advance(pauseMs);
      const nowMs = clock.monotonicMs();
      order += 1;
      requests.push({ key: step.key, order, requestedMs: nowMs, dueMs: nowMs + act(queue, clock, step) });
    }
    await clock.advance(10_000_000);
    await queue.close();
    await all;
    expect(clock.sleepers).toBe(0);
    return { requests, runsOfKeys };
  }

  it('handles a hundred thousand keys without walking over all of them', async () => {
    const few = await timeOf(20_000);
    const many = await timeOf(100_000);
    // Five times the keys: a queue that walks over them would need twenty-five times the time.
    expect(many / few).toBeLessThan(15);
  });
});

/** Returns the earliest delay after which the key may be processed. */
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

/** Returns the CPU time of this thread, in microseconds: the best of three, because what else runs empties the caches of the CPU. */
async function timeOf(size: number): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const queue = createTestQueue(virtualClock());
    for (let n = 0; n < size; n += 1) queue.add(`k${n}`);
    const start = process.threadCpuUsage();
    for (let n = 0; n < size; n += 1) queue.done(String(await queue.take()));
    times.push(process.threadCpuUsage(start).user);
  }
  return Math.min(...times);
}
