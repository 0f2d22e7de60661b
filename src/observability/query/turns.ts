/** Asks Prometheus some queries at a time. */

/** Prometheus runs 20 queries at once by default, and has others to answer. */
const AT_ONCE = 3;

/** Keeps the order of the items. */
export async function askInTurns<T, R>(
  items: readonly T[],
  ask: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await ask(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
