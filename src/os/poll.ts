/** Repeats a check until it is done or a deadline has passed. */
import type { Clock } from './clock.ts';

export interface PollOptions {
  readonly clock: Clock;
  readonly everyMs: number;
  /** On the monotonic clock. The check runs at least once, even after the deadline. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** False when the deadline has passed. Rejects with the errors of the check and with the signal's reason. */
export async function pollUntil(
  isDone: () => Promise<boolean> | boolean,
  { clock, everyMs, deadlineMs, signal }: PollOptions,
): Promise<boolean> {
  while (!(await isDone())) {
    if (clock.monotonicMs() >= deadlineMs) return false;
    await clock.sleep(everyMs, signal);
  }
  return true;
}
