/** Virtual machine-days that the simulator runs in a second on this machine, at the size of its long run. */
import { simulateSeeds } from '../src/sim/threads/seeds.ts';
import type { Bench, BenchResult } from './bench.ts';

const SEEDS = 6;
const DAYS = 7;
const MACHINES = 1000;
const MACHINE_DAYS = SEEDS * DAYS * MACHINES;

export const bench: Bench = {
  name: 'sim',
  what: 'virtual machine-days per second on all cores, and per second of CPU time, with the real decision and ledger',
  run,
};

async function run(): Promise<BenchResult> {
  let cpuSeconds = 0;
  const seeds = Array.from({ length: SEEDS }, (_, index) => ({
    seed: index + 1,
    days: DAYS,
    machines: MACHINES,
  }));
  const began = performance.now();
  const results = await simulateSeeds(seeds, (seed) => {
    cpuSeconds += seed.cpuSeconds;
  });
  const machineDaysPerSecond = Math.round((MACHINE_DAYS * 1000) / (performance.now() - began));
  const acts = results.reduce((sum, result) => sum + result.acts, 0);
  const violations = results.reduce((sum, result) => sum + result.violations.length, 0);
  return {
    measured: {
      machineDaysPerSecond,
      machineDaysPerCpuSecond: Math.round(MACHINE_DAYS / cpuSeconds),
      acts,
      violations,
    },
    baseline: {},
    ratios: {},
    gates: [
      { what: 'machine-days per second', value: machineDaysPerSecond, atLeast: 1000 },
      { what: 'broken promises', value: violations, atMost: 0 },
    ],
    setting: { seeds: SEEDS, days: DAYS, machines: MACHINES },
  };
}
