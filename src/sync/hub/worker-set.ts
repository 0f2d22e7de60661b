/** Starts and stops one worker for each name, as the objects of these names are created and deleted. */
export interface WorkerSet<T> {
  get(name: string): T | undefined;
  all(): readonly T[];
  /** Starts workers for new names and closes those of missing names. Does nothing once the set is closed. */
  refresh(names: readonly string[]): void;
  /** Resolves when all workers have closed. */
  close(): Promise<void>;
}

export function createWorkerSet<T extends { close(): Promise<void> }>(
  start: (name: string) => T,
): WorkerSet<T> {
  const workers = new Map<string, T>();
  const closing = new Set<Promise<void>>();
  let closed = false;

  return {
    get: (name) => workers.get(name),
    all: () => [...workers.values()],
    refresh(names) {
      // Caches report changes until the end: a worker that one of them started now would never be closed.
      if (closed) return;
      const present = new Set(names);
      for (const name of workers.keys()) if (!present.has(name)) stop(name);
      for (const name of names) if (!workers.has(name)) workers.set(name, start(name));
    },
    async close() {
      closed = true;
      for (const name of workers.keys()) stop(name);
      await Promise.all(closing);
    },
  };

  function stop(name: string): void {
    const worker = workers.get(name);
    if (!worker) return;
    workers.delete(name);
    const ended = worker.close().finally(() => closing.delete(ended));
    closing.add(ended);
  }
}
