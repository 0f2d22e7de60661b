/** Waits for what happens outside of our process, where there is nothing to await: asked again and again, for a bounded time. */
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_AGAIN_MS = 50;

/** Resolves with the first thing that is found. `otherwise` is the error when the time is up. */
export async function eventually<T>(
  look: () => Promise<T | undefined>,
  otherwise: string,
  withinMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${otherwise} within ${withinMs / 1000} s`);
    await pause(LOOK_AGAIN_MS);
  }
}
