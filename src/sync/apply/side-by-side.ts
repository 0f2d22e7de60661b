/** Work on many objects at once; all of it has ended before the first error goes on, and none is begun after an error. */
import PQueue from 'p-queue';

/** The limiter of the client has the last word on how many calls are in flight. */
const SIDE_BY_SIDE = 8;

export async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: SIDE_BY_SIDE });
  const failures: unknown[] = [];
  for (const item of items) {
    void queue.add(async () => {
      if (failures.length > 0) return;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
    });
  }
  await queue.onIdle();
  if (failures.length > 0) throw failures[0];
}
