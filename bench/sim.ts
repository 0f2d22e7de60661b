/** Virtual machine-days that the simulator runs in a second of CPU time, at the size of its long run. */
import { cpuUsage } from 'node:process';
import { simulate } from '../src/sim/simulate.ts';
import type { Bench, BenchResult } from './bench.ts';

const SEEDS = 5;
const DAYS = 7;
const MACHINES = 1000;

export const bench: Bench = {
  name: 'sim',
  what: 'virtual machine-days per second of CPU time, with the real decision and ledger',
  run,
};

async function run(): Promise<BenchResult> {
  let acts = 0;
  let violations = 0;
  const before = cpuUsage();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other, as `npm run sim` does
    const result = await simulate({ seed, days: DAYS, machines: MACHINES });
    acts += result.acts;
    violations += result.violations.length;
  }
  const { user, system } = cpuUsage(before);
  const machineDaysPerCpuSecond = Math.round((SEEDS * DAYS * MACHINES * 1e6) / (user + system));
  return {
    measured: { machineDaysPerCpuSecond, acts, violations },
    baseline: {},
    ratios: {},
    gates: [
      { what: 'machine-days per CPU second', value: machineDaysPerCpuSecond, atLeast: 1000 },
      { what: 'broken promises', value: violations, atMost: 0 },
    ],
    setting: { seeds: SEEDS, days: DAYS, machines: MACHINES },
  };
}
