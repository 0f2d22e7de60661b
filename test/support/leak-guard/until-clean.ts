/** Processes end a moment after their signal, so the check is repeated until there are no leaks, or until the time limit. */
import { setTimeout as pause } from 'node:timers/promises';

/** Enough for a program that is ending on a busy machine; the guard's own test, which leaks, sets less. */
const PATIENCE_MS = Number(process.env['KUBENODE_LEAK_PATIENCE_MS'] ?? 5000);
const LOOK_AGAIN_MS = 25;

export async function untilClean(findLeaks: () => readonly string[]): Promise<readonly string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  let left = findLeaks();
  while (left.length > 0 && performance.now() < deadline) {
    await pause(LOOK_AGAIN_MS);
    left = findLeaks();
  }
  return left;
}
