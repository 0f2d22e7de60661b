/**
 * `npm run sim`: runs seeds of the simulator on every core, and prints what broke. Exits with 0 when every promise held, with 1 when one was
 * broken, with 2 for wrong options.
 */
import { argv, exit, stderr, stdout } from 'node:process';
import { GUARD_IDS } from '../defender/guards/guards.ts';
import { optional } from '../kube/objects/optional.ts';
import { type FleetSimulationResult, simulateFleetLimits } from './fleet/simulate-fleet-limits.ts';
import { SET_BREAKAGES } from './machines/breakage.ts';
import { type MachineSetSimulationResult, simulateMachineSets } from './machines/simulate-machine-sets.ts';
import { readOptions, type SimulatorOptions } from './options.ts';
import { BREAKAGES } from './rollout/repairs/breakage.ts';
import { type RolloutSimulationResult, simulateRollouts } from './rollout/simulate-rollouts.ts';
import type { SimulationResult } from './simulate.ts';
import { simulateSeeds } from './threads/seeds.ts';

const HELP = `Simulates a fleet under the Defender, in virtual time. Seeds run on every core.

npm run sim -- [options]
  --seeds N        number of seeds (10)
  --seed N         first seed (1)
  --days N         virtual days of each seed (7)
  --machines N     machines of each seed (1000)
  --without GUARD  takes one guard out: a seed must fail then
  --rollouts       rolls versions out with the real controllers: 8 machines by default, one seed after the other
  --repairs        the same, with faults that the real controllers of rules and jobs repair
  --sets           keeps the machines of a MachineSet with the real controllers: up to 12 machines by default
  --fleet          several clusters under one hub, which hands out their shares of limits; takes --without, too
  --clusters N     clusters of each seed with --fleet (20)
  --hours N        virtual hours of each seed with --fleet (24), of faults with --rollouts, --repairs or --sets (2)
  --break NAME     breaks one part of a run with --repairs or --sets: a seed must fail then
  -o, --output     text or json (text)
  -h, --help

Guards: ${GUARD_IDS.join(', ')}
Breakages of --repairs: ${BREAKAGES.join(', ')}
Breakages of --sets: ${SET_BREAKAGES.join(', ')}
`;

exit(await main(argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    stderr.write(`${options}\nRun npm run sim -- --help.\n`);
    return 2;
  }
  if (options.help) {
    stdout.write(HELP);
    return 0;
  }
  if (options.fleet) return await runFleets(options);
  if (options.sets) return await runSets(options);
  return options.rollouts ? await runRollouts(options) : await runAsks(options);
}

async function runRollouts(options: SimulatorOptions): Promise<number> {
  const { seed: first, seeds, hours, machines, broken } = options;
  const repairs = options.repairs ? { repairs: optional('broken', broken) } : {};
  const results: RolloutSimulationResult[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    const result = await simulateRollouts({ seed, hours, machines, ...repairs });
    const { starts, completed, kills, violations } = result;
    const repaired = result.repairs ? `${result.repairs.jobs} jobs, ${result.repairs.reboots} reboots, ` : '';
    stderr.write(
      `seed ${seed}: ${starts} updates, ${completed} rollouts completed, ${repaired}${kills} kills, ${violations.length} violations\n`,
    );
    results.push(result);
  }
  stdout.write(options.json ? `${JSON.stringify(results)}\n` : rolloutText(results, options));
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

async function runSets(options: SimulatorOptions): Promise<number> {
  const { seed: first, seeds, hours, machines, brokenSet } = options;
  const results: MachineSetSimulationResult[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    const result = await simulateMachineSets({ seed, hours, machines, ...optional('broken', brokenSet) });
    const { history, kills, violations } = result;
    stderr.write(
      `seed ${seed}: ${history.length} creations and deletions, ${kills} kills, ${violations.length} violations\n`,
    );
    results.push(result);
  }
  const breakage = brokenSet ? ` --break ${brokenSet}` : '';
  const text = (): string =>
    timedSummary(results, `--sets --hours ${hours} --machines ${machines}${breakage}`);
  stdout.write(options.json ? `${JSON.stringify(results)}\n` : text());
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

async function runFleets({
  seed: first,
  seeds,
  hours,
  clusters,
  without,
  json,
}: SimulatorOptions): Promise<number> {
  const results: FleetSimulationResult[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one seed after the other
    const result = await simulateFleetLimits({ seed, hours, clusters, ...optional('without', without) });
    const { acts, actsUnderFloor, longestWaitSeconds, violations } = result;
    stderr.write(
      `seed ${seed}: ${acts} acts, ${actsUnderFloor} of them under the floor, longest wait ${longestWaitSeconds} s, ${violations.length} violations\n`,
    );
    results.push(result);
  }
  const guard = without ? ` --without ${[...without].join()}` : '';
  const text = (): string => summary(results, `--fleet --hours ${hours} --clusters ${clusters}${guard}`);
  stdout.write(json ? `${JSON.stringify(results)}\n` : text());
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function rolloutText(
  results: readonly RolloutSimulationResult[],
  { hours, machines, repairs, broken }: SimulatorOptions,
): string {
  const kind = repairs ? '--repairs' : '--rollouts';
  const breakage = broken ? ` --break ${broken}` : '';
  return timedSummary(results, `${kind} --hours ${hours} --machines ${machines}${breakage}`);
}

function timedSummary(
  results: readonly Pick<RolloutSimulationResult, 'seed' | 'violations'>[],
  size: string,
): string {
  const flat = results.map(({ seed, violations }) => ({
    seed,
    violations: violations.map(({ atMs, ...each }) => ({ ...each, at: new Date(atMs).toISOString() })),
  }));
  return summary(flat, size);
}

async function runAsks(options: SimulatorOptions): Promise<number> {
  const { seed: first, seeds, days, machines } = options;
  const all = Array.from({ length: seeds }, (_, index) => ({ ...options, seed: first + index }));
  const results = await simulateSeeds(all, ({ result: { seed, acts, violations }, cpuSeconds }) => {
    const rate = Math.round((days * machines) / cpuSeconds);
    stderr.write(
      `seed ${seed}: ${acts} acts, ${violations.length} violations, ${rate} machine-days per CPU second\n`,
    );
  });
  stdout.write(options.json ? `${JSON.stringify(results)}\n` : textOf(results, options));
  return results.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function textOf(results: readonly SimulationResult[], { days, machines, without }: SimulatorOptions): string {
  const guard = without ? ` --without ${[...without].join()}` : '';
  return summary(results, `--days ${days} --machines ${machines}${guard}`);
}

/** The first violations of each seed, and the command that repeats the first seed that failed. */
function summary(results: readonly Pick<SimulationResult, 'seed' | 'violations'>[], size: string): string {
  const lines = results.flatMap(({ seed, violations }) =>
    violations.slice(0, 5).map(({ at, machine, what }) => `seed ${seed}, ${at}, ${machine}: ${what}`),
  );
  const failed = results.filter(({ violations }) => violations.length > 0);
  const [first] = failed;
  const replay = first ? [`replay: npm run sim -- --seed ${first.seed} --seeds 1 ${size}`] : [];
  return [
    ...lines,
    `${results.length - failed.length} of ${results.length} seeds held every promise`,
    ...replay,
    '',
  ].join('\n');
}
