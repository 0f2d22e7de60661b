/** Finds a short part of a failing sequence that still fails: removes halves, then quarters, down to single acts. */

export interface ShrinkOptions<T> {
  readonly fails: (part: readonly T[]) => Promise<boolean>;
  /** Runs are expensive: stops at the shortest part that was found so far. */
  readonly maxRuns: number;
}

export async function shrink<T>(
  all: readonly T[],
  { fails, maxRuns }: ShrinkOptions<T>,
): Promise<readonly T[]> {
  let shortest = all;
  let runs = 0;
  for (let size = Math.ceil(all.length / 2); size >= 1 && runs < maxRuns; ) {
    const start = await removableFrom(size);
    if (start !== undefined) shortest = without(shortest, start, size);
    // A removal may make an earlier act removable: the same size again until none is.
    else if (size === 1) break;
    else size = Math.ceil(size / 2);
  }
  return shortest;

  async function removableFrom(size: number): Promise<number | undefined> {
    for (let start = 0; start < shortest.length && runs < maxRuns; start += size) {
      runs += 1;
      if (await fails(without(shortest, start, size))) return start;
    }
    return undefined;
  }
}

function without<T>(all: readonly T[], start: number, size: number): readonly T[] {
  return [...all.slice(0, start), ...all.slice(start + size)];
}
