/**
 * The work queue between what changes and the passes over it. Its promises:
 * a key is in at most one pass at a time; whatever is added is passed over after it was added; what is added
 * several times before its pass is passed over once; no key waits for ever behind others.
 */
import type { Clock } from '../../os/clock.ts';
import type { QueueMetrics } from '../process/metrics-runtime.ts';
import { createDelayTimer } from './delay-timer.ts';
import { createPendingKeys } from './pending-keys.ts';
import type { Priority } from './priorities.ts';
import { createRetryBackoff, type RetryBackoffOptions } from './retry.ts';

export interface WorkQueue {
  add(key: string, priority?: Priority): void;
  /** Of several delays and moments for one key the earliest counts. */
  addAfter(key: string, ms: number): void;
  /** A moment of the wall clock; it holds also when that clock is set or the machine sleeps. */
  addAt(key: string, moment: Date, priority?: Priority): void;
  /** After a failure: back-off. Returns how long it waits. */
  retry(key: string): number;
  /** After a success: the next failure starts with a short wait again. */
  forget(key: string): void;
  failures(key: string): number;
  /** The next key, as soon as there is one; undefined when the queue is closed. Each one taken must be `done`. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /**
   * Nothing is taken in any more. What waits is dropped (the next start finds it again), or worked off first.
   * Resolves when no key is in a pass.
   */
  close(waiting?: 'drop' | 'finish'): Promise<void>;
  /** How many wait to be taken. */
  readonly depth: number;
}

export interface WorkQueueOptions extends RetryBackoffOptions {
  readonly clock: Clock;
  readonly metrics?: QueueMetrics;
}

export function createWorkQueue({ clock, metrics, ...limits }: WorkQueueOptions): WorkQueue {
  const all = createPendingKeys();
  const penalties = createRetryBackoff(limits);
  const later = createDelayTimer(clock, (due) => {
    for (const key of due) all.add(key, laterPriority(key), clock.monotonicMs());
    hand();
  });
  const urgentLater = new Set<string>();
  const takers: ((key: string | undefined) => void)[] = [];
  const quiet = Promise.withResolvers<void>();
  let open = true;

  return {
    add,
    addAfter,
    addAt: (key, moment, priority = 'normal') => {
      const ms = moment.getTime() - clock.now().getTime();
      if (Number.isNaN(ms)) throw new RangeError(`the moment to wake ${key} is not a date`);
      if (ms <= 0) add(key, priority);
      else if (open) later.at(key, moment);
      if (ms > 0 && priority === 'urgent') urgentLater.add(key);
    },
    retry: (key) => {
      const ms = penalties.delayMs(key, clock.monotonicMs());
      metrics?.retried();
      addAfter(key, ms);
      return ms;
    },
    forget: (key) => penalties.forget(key),
    failures: (key) => penalties.failures(key),
    take,
    done: (key) => {
      all.done(key, clock.monotonicMs());
      hand();
    },
    close,
    get depth() {
      return all.waiting;
    },
  };

  function add(key: string, priority: Priority = 'normal'): void {
    if (!open) return;
    all.add(key, priority, clock.monotonicMs());
    hand();
  }

  function addAfter(key: string, ms: number): void {
    if (ms <= 0) add(key);
    else if (open) later.after(key, ms);
  }

  function take(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    takers.push(resolve);
    hand();
    return promise;
  }

  /** A key is due once, at the earliest of its moments: if any of them was urgent, it is. */
  function laterPriority(key: string): Priority {
    return urgentLater.delete(key) ? 'urgent' : 'normal';
  }

  /** Gives keys to those who wait for one; once no key can come any more, they learn that. */
  function hand(): void {
    while (takers.length > 0) {
      const taken = all.take(clock.monotonicMs());
      if (!taken) break;
      metrics?.taken(taken.waitedMs / 1000);
      takers.shift()?.(taken.key);
    }
    if (open || all.waiting + all.processing > 0) return;
    for (const taker of takers.splice(0)) taker(undefined);
    quiet.resolve();
  }

  function close(waiting: 'drop' | 'finish' = 'drop'): Promise<void> {
    open = false;
    later.clear();
    urgentLater.clear();
    if (waiting === 'drop') all.clear();
    hand();
    return quiet.promise;
  }
}
