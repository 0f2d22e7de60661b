/** One at a time: neither backend is safe with two writers in one folder. */
export interface Mutex {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function mutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run<T>(work: () => Promise<T>): Promise<T> {
      const turn = last.then(work, work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
