/** Random numbers from a seed: the same seed gives the same run. */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** From 0 up to n - 1. */
  below(n: number): number;
  pick<T>(items: readonly T[]): T | undefined;
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next,
    chance: (probability) => next() < probability,
    below,
    pick: (items) => items[below(items.length)],
  };

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  function below(n: number): number {
    return Math.floor(next() * n);
  }
}
