/** Remembers keys for a while, with a bound on how many: a repeated delivery is recognized by the digest of its body. */

export interface RecentKeys {
  /** Returns whether the key is new, and remembers it. */
  add(key: string, nowMs: number): boolean;
  remove(key: string): void;
}

/** A person who delivers a push again by hand, minutes later, wants it to be read. */
const KEEP_MS = 60_000;
/** Twenty seconds of requests at the highest rate. */
const MAX_KEYS = 1000;

export function createRecentKeys(): RecentKeys {
  const known = new Map<string, number>();
  return {
    add(key, nowMs) {
      forgetOld(nowMs);
      if (known.has(key)) return false;
      const [oldest] = known.keys();
      if (known.size >= MAX_KEYS && oldest !== undefined) known.delete(oldest);
      known.set(key, nowMs);
      return true;
    },
    remove: (key) => void known.delete(key),
  };

  /** The keys are in the order in which they were added. */
  function forgetOld(nowMs: number): void {
    for (const [key, addedMs] of known) {
      if (nowMs - addedMs < KEEP_MS) return;
      known.delete(key);
    }
  }
}
