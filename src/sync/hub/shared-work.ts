/** Work that several callers wait for, and that is canceled when none of them needs its result any more. */
export interface SharedWork<T> {
  readonly result: Promise<T>;
  /** Rejects when the signal is aborted. A caller without a signal needs the result until `cancel`. */
  wait(signal?: AbortSignal): Promise<T>;
  cancel(reason: unknown): void;
}

/** Starts at once. `onUnneeded` is called before the work is canceled because nothing waits for it. */
export function createSharedWork<T>(
  work: (signal: AbortSignal) => Promise<T>,
  onUnneeded: () => void,
): SharedWork<T> {
  const canceling = new AbortController();
  let waiting = 0;
  let isNeeded = false;
  const result = work(canceling.signal);
  return {
    result,
    wait: (signal) => (signal ? waitUntil(signal) : waitForEver()),
    cancel: (reason) => canceling.abort(reason),
  };

  function waitForEver(): Promise<T> {
    isNeeded = true;
    return result;
  }

  async function waitUntil(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => {
      waiting -= 1;
      reject(signal.reason);
      if (waiting > 0 || isNeeded) return;
      onUnneeded();
      canceling.abort(signal.reason);
    };
    waiting += 1;
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([result, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}
