/**
 * Records webhooks in the hub, at most one a second for each Pipeline. The process that holds the Lease of the Pipeline watches the
 * record, so it does not matter which replica of sync received the webhook.
 */
import type { Clock } from '../../os/clock.ts';

export interface PollRequestOptions {
  /** Writes the record. */
  readonly record: (pipeline: string, receivedAt: Date) => Promise<void>;
  readonly clock: Clock;
}

/** A poll takes about as long: more of them would find nothing new. */
const INTERVAL_MS = 1000;

/** Returns a function that resolves when a record was written after the call. Calls that come meanwhile share the next record. */
export function createPollRequests({
  record,
  clock,
}: PollRequestOptions): (pipeline: string) => Promise<void> {
  const lastMs = new Map<string, number>();
  const waiting = new Map<string, Promise<void>>();

  return (pipeline) => {
    const next = waiting.get(pipeline) ?? write(pipeline);
    waiting.set(pipeline, next);
    return next;
  };

  async function write(pipeline: string): Promise<void> {
    const last = lastMs.get(pipeline) ?? Number.NEGATIVE_INFINITY;
    const delayMs = last + INTERVAL_MS - clock.monotonicMs();
    // Also without a delay in a later turn, so that `waiting` is set before it is deleted.
    await (delayMs > 0 ? clock.sleep(delayMs) : Promise.resolve());
    waiting.delete(pipeline);
    lastMs.set(pipeline, clock.monotonicMs());
    await record(pipeline, clock.now());
  }
}
