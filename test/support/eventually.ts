/** Waits for changes outside of our process, where there is no promise to await: polls for a bounded time, ever less often. */
import { setTimeout as pause } from 'node:timers/promises';

const SHORTEST_MS = 25;
const LONGEST_MS = 250;

/** Resolves with the first result that is not undefined. `otherwise` is the error after the time limit. */
export async function eventually<T>(
  poll: () => Promise<T | undefined>,
  otherwise: string,
  withinMs = 600_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (let pauseMs = SHORTEST_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_MS)) {
    const found = await poll();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${otherwise} within ${withinMs / 1000} s`);
    await pause(pauseMs);
  }
}
