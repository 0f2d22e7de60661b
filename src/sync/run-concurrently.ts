/** Works on many items at once. After an error no further item is started; the error is thrown when all have ended. */
import PQueue from 'p-queue';

/** The limiter of the client may allow fewer calls in flight. */
const MAX_CONCURRENT = 8;

/** Returns the results in the order of the items. */
export async function runConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const queue = new PQueue({ concurrency: MAX_CONCURRENT });
  const results: R[] = [];
  const failures: unknown[] = [];
  for (const [index, item] of items.entries()) {
    void queue.add(async () => {
      if (failures.length > 0) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
    });
  }
  await queue.onIdle();
  if (failures.length > 0) throw failures[0];
  return results;
}
