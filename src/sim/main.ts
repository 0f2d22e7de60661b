/**
 * `npm run sim`: runs seeds of the simulator on every core, and prints what broke. Exits with 0 when every promise held, with 1 when one was
 * broken, with 2 for wrong options.
 */
import { argv, exit, stderr, stdout } from 'node:process';
import { GUARD_IDS } from '../defender/guards/guards.ts';
import { readOptions, type SimulatorOptions } from './options.ts';
import type { SimulationResult } from './simulate.ts';
import { simulateSeeds } from './threads/seeds.ts';

const HELP = `Simulates a fleet under the Defender, in virtual time. Seeds run on every core.

npm run sim -- [options]
  --seeds N        number of seeds (10)
  --seed N         first seed (1)
  --days N         virtual days of each seed (7)
  --machines N     machines of each seed (1000)
  --without GUARD  takes one guard out: a seed must fail then
  -o, --output     text or json (text)
  -h, --help

Guards: ${GUARD_IDS.join(', ')}
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
  const lines = results.flatMap(({ seed, violations }) =>
    violations.slice(0, 5).map(({ at, machine, what }) => `seed ${seed}, ${at}, ${machine}: ${what}`),
  );
  const failed = results.filter(({ violations }) => violations.length > 0);
  const [first] = failed;
  const guard = without ? ` --without ${[...without].join()}` : '';
  const replay = first
    ? [`replay: npm run sim -- --seed ${first.seed} --seeds 1 --days ${days} --machines ${machines}${guard}`]
    : [];
  return [
    ...lines,
    `${results.length - failed.length} of ${results.length} seeds held every promise`,
    ...replay,
    '',
  ].join('\n');
}
