/** Limits how much of the same work runs at once: the rest waits for its turn, and what would wait long is refused. */
export interface Turns {
  /** Undefined: too many wait already. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined;
}

export interface TurnLimits {
  readonly atOnce: number;
  readonly maxWaiting: number;
}

export function createTurns({ atOnce, maxWaiting }: TurnLimits): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run(work) {
      if (running >= atOnce && waiting.length >= maxWaiting) return undefined;
      return begin(work);
    },
  };

  async function begin<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }
}
