/**
 * Answers many look-ups by one request. While a request is under way, look-ups wait for the next: each is answered by a request that was
 * sent after it, so an answer is never older than its question.
 */

export type LookUpMany<T> = (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;

export interface Batch<T> {
  /** Returns what was found; undefined: nothing. Rejects with the error of the request, or with the reason of the signal. */
  lookUp(key: string, signal: AbortSignal): Promise<T | undefined>;
}

interface Waiting<T> {
  readonly key: string;
  readonly resolve: (value: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatch<T>(lookUpMany: LookUpMany<T>, limit: number): Batch<T> {
  const waiting: Waiting<T>[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) await answer(takeRound(waiting, limit), lookUpMany);
    isRunning = false;
  }

  return {
    lookUp(key, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
      if (signal.aborted) {
        reject(signal.reason);
        return promise;
      }
      const giveUp = (): void => reject(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push({ key, resolve, reject });
      if (!isRunning) void run();
      return promise.finally(() => signal.removeEventListener('abort', giveUp));
    },
  };
}

/** Takes the look-ups of at most so many keys. */
function takeRound<T>(waiting: Waiting<T>[], limit: number): readonly Waiting<T>[] {
  const keys = new Set([...new Set(waiting.map(({ key }) => key))].slice(0, limit));
  const round = waiting.filter(({ key }) => keys.has(key));
  const later = waiting.filter(({ key }) => !keys.has(key));
  waiting.splice(0, waiting.length, ...later);
  return round;
}

async function answer<T>(round: readonly Waiting<T>[], lookUpMany: LookUpMany<T>): Promise<void> {
  try {
    const found = await lookUpMany([...new Set(round.map(({ key }) => key))].toSorted());
    for (const { key, resolve } of round) resolve(found.get(key));
  } catch (error) {
    for (const { reject } of round) reject(error);
  }
}
