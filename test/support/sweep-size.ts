/**
 * How much of a sweep runs: a bounded slice, or everything with `npm run test:long` (KUBENODE_LONG=1). The slice is chosen by a seed
 * that is printed when the run starts; KUBENODE_SEED=n repeats a run.
 */
export const LONG = process.env['KUBENODE_LONG'] === '1';

/** One seed for the whole run: vitest.config.ts draws it and shuffles the tests with it. */
export const SEED = Number(process.env['KUBENODE_SEED'] ?? 1);

/** Parameters for fast-check: `fc.assert(fc.property(…), runs(200, 10_000))`. */
export function runs(short: number, long: number): { readonly numRuns: number } {
  return { numRuns: LONG ? long : short };
}

/** At most `count` of the items, in their order, the same ones for the same seed; all of them in a long run. */
export function slice<T>(items: readonly T[], count: number): readonly T[] {
  if (LONG || items.length <= count) return items;
  const random = randomFrom(SEED);
  const ranked = items.map((item, index) => ({ item, index, rank: random() }));
  const chosen = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, count);
  return chosen.toSorted((a, b) => a.index - b.index).map(({ item }) => item);
}

/** Every `step`-th number from 1 on, and which one is the first depends on the seed; each number in a long run. */
export function stride(step: number): { readonly first: number; readonly step: number } {
  return LONG ? { first: 1, step: 1 } : { first: 1 + (SEED % step), step };
}

/** Numbers in [0, 1) that depend only on the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
