/** Ends work that makes no progress for too long. Without any progress the limit is that of the whole work. */
import type { WorkLimit } from '../../../os/deadline.ts';

/** The work gets a signal that is aborted when it stalls or the caller aborts. Work that fails after that rejects with its reason. */
export async function withStallLimit<T>(
  { clock, ms, signal, expired }: WorkLimit,
  work: (signal: AbortSignal, progress: () => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let lastMs = clock.monotonicMs();
  const watching = watch().catch(() => undefined);
  try {
    ended.throwIfAborted();
    return await work(ended, () => {
      lastMs = clock.monotonicMs();
    });
  } catch (error) {
    ended.throwIfAborted();
    throw error;
  } finally {
    stop.abort();
    await watching;
  }

  async function watch(): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs = lastMs + ms - clock.monotonicMs()) {
      await clock.sleep(leftMs, ended);
    }
    stop.abort(expired());
  }
}
