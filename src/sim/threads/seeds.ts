/** Runs seeds on every core, each in a thread: a seed depends on no other. */
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { SimulationOptions } from '../run.ts';
import type { SimulationResult } from '../simulate.ts';

export interface EndedSeed {
  readonly result: SimulationResult;
  readonly cpuSeconds: number;
}

/** In the order of the seeds; `ended` is called as they end. */
export async function simulateSeeds(
  seeds: readonly SimulationOptions[],
  ended: (seed: EndedSeed) => void = () => {},
): Promise<readonly SimulationResult[]> {
  const left = [...seeds.entries()];
  const results: SimulationResult[] = [];
  const threads = Math.min(seeds.length, availableParallelism());
  await Promise.all(Array.from({ length: threads }, work));
  return results;

  async function work(): Promise<void> {
    const thread = new Worker(new URL('./main.ts', import.meta.url));
    try {
      for (let next = left.shift(); next; next = left.shift()) {
        const [index, options] = next;
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage(options);
        // oxlint-disable-next-line no-await-in-loop -- a thread runs one seed after the other
        const [seed] = (await once(thread, 'message')) as [EndedSeed];
        results[index] = seed.result;
        ended(seed);
      }
    } finally {
      await thread.terminate();
    }
  }
}
