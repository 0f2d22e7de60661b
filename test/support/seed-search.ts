/** Shows that a part of a simulation is needed: a seed breaks its promise without the part. */

interface Judged {
  readonly violations: readonly { readonly what: string }[];
}

/** A change of any controller changes what happens with a seed. Enough for what one run of twenty shows. */
const MOST_SEEDS = 100;
/** More than so many runs cost a minute of CPU time in each run of the tests: begin with the seed that was found. */
const MANY_SEEDS = 5;

/** The first seed whose run breaks the promise. */
export async function findSeed(
  first: number,
  promise: RegExp,
  simulate: (seed: number) => Promise<Judged>,
): Promise<number> {
  for (let seed = first; seed < first + MOST_SEEDS; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    const { violations } = await simulate(seed);
    if (!violations.some(({ what }) => promise.test(what))) continue;
    if (seed - first >= MANY_SEEDS) {
      process.stderr.write(
        `seed ${seed} is the first from ${first} on that breaks ${promise.source}: begin with it\n`,
      );
    }
    return seed;
  }
  throw new Error(`no seed from ${first} to ${first + MOST_SEEDS - 1} breaks ${promise.source}`);
}

/** Runs the same options once: many parts are shown by the same seed. */
export function createRuns<Options, Result>(
  simulate: (options: Options) => Promise<Result>,
): (options: Options) => Promise<Result> {
  const known = new Map<string, Promise<Result>>();
  return async (options) => {
    const key = JSON.stringify(options);
    const run = known.get(key) ?? simulate(options);
    known.set(key, run);
    return await run;
  };
}
