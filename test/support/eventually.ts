/** Waits for changes outside of our process, where there is no promise to await: polls for a bounded time. */
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 50;

/** Resolves with the first result that is not undefined. `otherwise` is the error after the time limit. */
export async function eventually<T>(
  poll: () => Promise<T | undefined>,
  otherwise: string,
  withinMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await poll();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${otherwise} within ${withinMs / 1000} s`);
    await pause(LOOK_AGAIN_MS);
  }
}
