/**
 * Bounds how many renders run at the same time, and lets those go first whose repository used the least time with its last one: a
 * repository whose programs loop until their limit, commit after commit, waits behind all others.
 */
import PQueue from 'p-queue';
import type { Clock } from '../../os/clock.ts';

export interface RenderQueue {
  /** Rejects with the reason of the signal if it is aborted before the render has started; then `work` has to watch it. */
  add<T>(repository: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createRenderQueue(slots: number, clock: Pick<Clock, 'monotonicMs'>): RenderQueue {
  const queue = new PQueue({ concurrency: slots });
  const lastMs = new Map<string, number>();
  return { add };

  function add<T>(repository: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      const task = async (): Promise<T> => {
        signal?.removeEventListener('abort', onAbort);
        signal?.throwIfAborted();
        return measured(repository, work);
      };
      queue.add(task, { priority: -(lastMs.get(repository) ?? 0) }).then(resolve, reject);
    });
  }

  async function measured<T>(repository: string, work: () => Promise<T>): Promise<T> {
    const startMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      lastMs.set(repository, clock.monotonicMs() - startMs);
    }
  }
}
