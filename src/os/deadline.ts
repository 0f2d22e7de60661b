/** Ends work that takes too long, with an error that tells so. */
import type { Clock } from './clock.ts';

export interface WorkLimit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
  /** The error when the time is over. */
  readonly expired: () => Error;
}

/** The work gets a signal that is aborted when the time is over or the caller aborts. Work that fails after that rejects with its reason. */
export async function withDeadline<T>(
  { clock, ms, signal, expired }: WorkLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const timer = clock.sleep(ms, ended).then(
    () => stop.abort(expired()),
    () => undefined,
  );
  try {
    ended.throwIfAborted();
    return await work(ended);
  } catch (error) {
    ended.throwIfAborted();
    throw error;
  } finally {
    stop.abort();
    await timer;
  }
}

/** Calls `onAbort` once after the signal is aborted, also if it is already. Returns a function that stops listening. */
export function whenAborted(signal: AbortSignal, onAbort: (reason: Error) => void): () => void {
  const listen = (): void => onAbort(signal.reason as Error);
  if (signal.aborted) queueMicrotask(listen);
  else signal.addEventListener('abort', listen, { once: true });
  return () => signal.removeEventListener('abort', listen);
}
