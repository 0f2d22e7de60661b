/** The values that were in force lately: a controller with a late view may still act upon them. */
export interface Recent<T> {
  add(value: T): void;
  /** Returns the values in force within the delay of a view; the last one is in force now. */
  values(): readonly T[];
}

/** The longest delay of a view: a watch that is 30 seconds late and stuck for a minute, and the steps in between. */
export const VIEW_DELAY_MS = 120_000;

export function createRecent<T>(nowMs: () => number): Recent<T> {
  let known: { readonly atMs: number; readonly value: T }[] = [];
  return {
    add: (value) => {
      known = [...inForce(), { atMs: nowMs(), value }];
    },
    values: () => inForce().map(({ value }) => value),
  };

  /** Returns the values of the delay, and the one before them. */
  function inForce(): typeof known {
    const first = known.findLastIndex(({ atMs }) => atMs <= nowMs() - VIEW_DELAY_MS);
    return known.slice(Math.max(first, 0));
  }
}
