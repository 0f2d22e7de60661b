/** Starts and stops one worker for each name, as the objects of these names are created and deleted. */
export interface WorkerSet<T> {
  get(name: string): T | undefined;
  all(): readonly T[];
  /** Starts workers for new names and closes those of missing names. */
  refresh(names: readonly string[]): void;
  /** Resolves when all workers have closed. */
  close(): Promise<void>;
}

export function createWorkerSet<T extends { close(): Promise<void> }>(
  start: (name: string) => T,
): WorkerSet<T> {
  const workers = new Map<string, T>();
  const closing = new Set<Promise<void>>();

  return {
    get: (name) => workers.get(name),
    all: () => [...workers.values()],
    refresh(names) {
      const present = new Set(names);
      for (const name of workers.keys()) if (!present.has(name)) stop(name);
      for (const name of names) if (!workers.has(name)) workers.set(name, start(name));
    },
    async close() {
      for (const name of workers.keys()) stop(name);
      await Promise.all(closing);
    },
  };

  function stop(name: string): void {
    const worker = workers.get(name);
    if (!worker) return;
    workers.delete(name);
    const closed = worker.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }
}
