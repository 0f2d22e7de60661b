/**
 * Writes that the server may refuse at first: its admission knows a new grant only when it has heard of the ledger, a little
 * later than the Defender wrote it. Each refused write alone is repeated, after all others.
 */
import { runConcurrently } from './run-concurrently.ts';

/** Together longer than a cache of the server is late. What is refused for longer has another cause. */
const WAITS_MS = [50, 150, 400];

export interface RepeatParts {
  readonly sleep: (ms: number) => Promise<void>;
  /** The error of each write that is still refused at the end. */
  readonly refused: (error: unknown) => void;
}

/** `write` resolves with the error when it is refused, and with undefined otherwise. */
export async function repeatRefused<T>(
  items: readonly T[],
  write: (item: T) => Promise<unknown>,
  { sleep, refused }: RepeatParts,
): Promise<void> {
  let errors = await runConcurrently(items, write);
  let left = items.filter((_, index) => errors[index] !== undefined);
  for (const waitMs of WAITS_MS) {
    if (left.length === 0) return;
    // oxlint-disable no-await-in-loop -- one round after the other
    await sleep(waitMs);
    errors = await runConcurrently(left, write);
    // oxlint-enable no-await-in-loop
    left = left.filter((_, index) => errors[index] !== undefined);
  }
  for (const error of errors) if (error !== undefined) refused(error);
}
