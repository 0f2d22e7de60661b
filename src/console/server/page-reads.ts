/** Reads about machines for pages on demand: few at a time, each limited in time, and each answer for all who ask within some seconds. */
import type { Clock } from '../../os/clock.ts';
import { whenAborted, withDeadline } from '../../os/deadline.ts';
import { createTurns, type Turns } from './turns.ts';

export interface PageReadsOptions<T> {
  readonly clock: Clock;
  /** The turns of all readers together. */
  readonly turns: Turns;
  readonly read: (cluster: string, name: string, signal: AbortSignal) => Promise<T>;
  /** Returns the answer while too many read, or when the read failed. */
  readonly failed: (error: unknown) => T;
  /** Whether the page shows the machine: no other cluster is asked. */
  readonly isShown: (cluster: string, name: string) => boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Never rejects. Undefined: the machine is not shown. */
export type PageReads<T> = (cluster: string, name: string) => Promise<T> | undefined;

/** A machine that changes is read again at once by each page that shows it. */
const KEPT_MS = 5000;
/** One person must not take the turns of all others. */
const OF_ONE_READER = { atOnce: 1, maxWaiting: 2 };

export class TooManyReads extends Error {}

/** Creates a reader with the rights of one person. */
export function createPageReads<T>(options: PageReadsOptions<T>): PageReads<T> {
  const { clock, turns, read, failed, isShown, timeoutMs, signal } = options;
  const kept = new Map<string, Promise<T>>();
  const own = createTurns(OF_ONE_READER);
  const expired = (): Error => new Error(`no answer within ${timeoutMs / 1000} s`);
  const limit = { clock, ms: timeoutMs, signal, expired };

  return (cluster, name) => {
    if (!isShown(cluster, name)) return undefined;
    const key = `${cluster}/${name}`;
    const known = kept.get(key);
    if (known) return known;
    const answer = ask(cluster, name, () => kept.delete(key));
    kept.set(key, answer);
    void forget(key, answer);
    return answer;
  };

  async function forget(key: string, answer: Promise<T>): Promise<void> {
    await answer;
    await clock.sleep(KEPT_MS, signal).catch(() => undefined);
    if (kept.get(key) === answer) kept.delete(key);
  }

  async function ask(cluster: string, name: string, drop: () => void): Promise<T> {
    try {
      return await withDeadline(
        limit,
        async (ended) =>
          await untilAborted(
            ended,
            inTurn(ended, () => read(cluster, name, ended)),
          ),
      );
    } catch (error) {
      // A turn may be free at the next request.
      if (error instanceof TooManyReads) queueMicrotask(drop);
      return failed(error);
    }
  }

  /** The wait counts as well: a read whose time is over when its turn comes is not begun. */
  async function inTurn(ended: AbortSignal, work: () => Promise<T>): Promise<T> {
    const begun = own.run(async () => {
      const shared = turns.run(async () => {
        ended.throwIfAborted();
        return await work();
      });
      if (!shared) throw new TooManyReads();
      return await shared;
    });
    if (!begun) throw new TooManyReads();
    return await begun;
  }
}

/** Work that ignores its signal keeps its turn, and the person gets an answer. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = whenAborted(signal, aborted.reject);
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    stop();
  }
}
