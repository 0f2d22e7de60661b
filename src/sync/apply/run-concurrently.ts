/** Work on many objects at once; all of it has ended before the first error goes on, and none is begun after an error. */
import PQueue from 'p-queue';

/** The limiter of the client has the last word on how many calls are in flight. */
const MAX_CONCURRENT = 8;

/** The results in the order of the items. */
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
