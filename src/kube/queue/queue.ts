/**
 * The work queue between events and reconciles. It guarantees that a key is processed at most once at a time, that
 * an added key is processed after it was added, that a key added several times before that is processed once, and
 * that no key starves.
 */
import type { Clock } from '../../os/clock.ts';
import type { QueueMetrics } from '../process/metrics-runtime.ts';
import { createDelayTimer } from './delay-timer.ts';
import { createPendingKeys } from './pending-keys.ts';
import type { Priority } from './priorities.ts';
import { createRetryBackoff, type RetryBackoffOptions } from './retry.ts';

export interface WorkQueue {
  add(key: string, priority?: Priority): void;
  /** The earliest of several delays and times for one key applies. */
  addAfter(key: string, ms: number): void;
  /** At a time of the wall clock. Correct even when that clock is set or the machine sleeps. */
  addAt(key: string, time: Date, priority?: Priority): void;
  /** Adds the key after a failure, with back-off. Returns the delay in milliseconds. */
  retry(key: string): number;
  /** Resets the back-off of the key after a success. */
  forget(key: string): void;
  failures(key: string): number;
  /** The next key, once there is one; undefined when the queue is closed. Call `done` for each key that was taken. */
  take(): Promise<string | undefined>;
  done(key: string): void;
  /**
   * Stops accepting keys. Waiting keys are dropped (the next start finds them again) or finished first. Resolves when
   * no key is being processed.
   */
  close(waiting?: 'drop' | 'finish'): Promise<void>;
  /** The number of waiting keys. */
  readonly depth: number;
}

export interface WorkQueueOptions extends RetryBackoffOptions {
  readonly clock: Clock;
  readonly metrics?: QueueMetrics;
}

export function createWorkQueue({ clock, metrics, ...limits }: WorkQueueOptions): WorkQueue {
  const pending = createPendingKeys();
  const backoff = createRetryBackoff(limits);
  const delayed = createDelayTimer(clock, (due) => {
    for (const key of due) pending.add(key, laterPriority(key), clock.monotonicMs());
    dispatch();
  });
  const urgentLater = new Set<string>();
  const takers: ((key: string | undefined) => void)[] = [];
  const drained = Promise.withResolvers<void>();
  let open = true;

  return {
    add,
    addAfter,
    addAt: (key, time, priority = 'normal') => {
      const ms = time.getTime() - clock.now().getTime();
      if (Number.isNaN(ms)) throw new RangeError(`cannot requeue ${key}: the time is not a valid date`);
      if (ms <= 0) add(key, priority);
      else if (open) delayed.at(key, time);
      if (ms > 0 && priority === 'urgent') urgentLater.add(key);
    },
    retry: (key) => {
      const ms = backoff.delayMs(key, clock.monotonicMs());
      metrics?.retried();
      addAfter(key, ms);
      return ms;
    },
    forget: (key) => backoff.forget(key),
    failures: (key) => backoff.failures(key),
    take,
    done: (key) => {
      pending.done(key, clock.monotonicMs());
      dispatch();
    },
    close,
    get depth() {
      return pending.waiting;
    },
  };

  function add(key: string, priority: Priority = 'normal'): void {
    if (!open) return;
    pending.add(key, priority, clock.monotonicMs());
    dispatch();
  }

  function addAfter(key: string, ms: number): void {
    if (ms <= 0) add(key);
    else if (open) delayed.after(key, ms);
  }

  function take(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    takers.push(resolve);
    dispatch();
    return promise;
  }

  /** A key is due once, at the earliest of its moments: if any of them was urgent, it is. */
  function laterPriority(key: string): Priority {
    return urgentLater.delete(key) ? 'urgent' : 'normal';
  }

  /** Gives keys to waiting takers; when no further key can come, they get undefined. */
  function dispatch(): void {
    while (takers.length > 0) {
      const taken = pending.take(clock.monotonicMs());
      if (!taken) break;
      metrics?.taken(taken.waitedMs / 1000);
      takers.shift()?.(taken.key);
    }
    if (open || pending.waiting + pending.processing > 0) return;
    for (const taker of takers.splice(0)) taker(undefined);
    drained.resolve();
  }

  function close(waiting: 'drop' | 'finish' = 'drop'): Promise<void> {
    open = false;
    delayed.clear();
    urgentLater.clear();
    if (waiting === 'drop') pending.clear();
    dispatch();
    return drained.promise;
  }
}
