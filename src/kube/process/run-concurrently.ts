/** Works on many items at once. */

/** Half of what the limiter of a client allows by default, so that other calls find slots. It may allow fewer. */
const MAX_CONCURRENT = 8;

/**
 * Returns the results in the order of the items. After an error no further item is started; the error is thrown when all have ended. `atOnce` is for work that no limiter of a client bounds.
 */
export async function runConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = MAX_CONCURRENT,
): Promise<readonly R[]> {
  // Taken one by one: a queue would hold a closure and a promise for each of the thousands of objects of a fleet.
  const pending = items.entries();
  const results: R[] = [];
  const failures: unknown[] = [];
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, workOnPending));
  if (failures.length > 0) throw failures[0];
  return results;

  async function workOnPending(): Promise<void> {
    for (const [index, item] of pending) {
      try {
        results[index] = await work(item);
      } catch (error) {
        failures.push(error);
      }
      // Each worker looks only when it is about to take an item.
      if (failures.length > 0) return;
    }
  }
}

/** Works on all items, also after an error: one that fails keeps no other. Throws the first error, in the order of the items, when all is tried. */
export async function tryAll<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const settled = (await runConcurrently(items, (item) => Promise.allSettled([work(item)]))).flat();
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}
