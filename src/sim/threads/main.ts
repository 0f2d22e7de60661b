/** A thread of `simulateSeeds`: gets the options of a seed, answers with its result. */
import { threadCpuUsage } from 'node:process';
import { parentPort } from 'node:worker_threads';
import type { SimulationOptions } from '../run.ts';
import { simulate } from '../simulate.ts';
import type { EndedSeed } from './seeds.ts';

parentPort?.on('message', (options: SimulationOptions) => void answer(options));

async function answer(options: SimulationOptions): Promise<void> {
  const before = threadCpuUsage();
  const result = await simulate(options);
  const { user, system } = threadCpuUsage(before);
  const ended: EndedSeed = { result, cpuSeconds: (user + system) / 1e6 };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(ended);
}
