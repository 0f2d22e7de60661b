/** Things end a moment after they were told to: a look at what is left is repeated until nothing is, or time is up. */
import { setTimeout as pause } from 'node:timers/promises';

/** Ample for a program that is told to end on a busy machine; the guard's own test, which leaks, wants less. */
const PATIENCE_MS = Number(process.env['KUBENODE_LEAK_PATIENCE_MS'] ?? 5000);
const LOOK_AGAIN_MS = 25;

export async function untilClean(look: () => readonly string[]): Promise<readonly string[]> {
  const deadline = performance.now() + PATIENCE_MS;
  let left = look();
  while (left.length > 0 && performance.now() < deadline) {
    await pause(LOOK_AGAIN_MS);
    left = look();
  }
  return left;
}
