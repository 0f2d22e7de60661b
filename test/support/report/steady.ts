/**
 * `npm run test:steady -- --runs N`: runs the tests on real API servers and real nodes N times beside busy processes, each time in another
 * order, and lists what failed how often. The exit code is 1 after any failure.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { describeSteadiness } from './failure-table.ts';
import { countAll, type RunResult } from './results.ts';
import { runVitest } from './run-vitest.ts';

const HELP = `usage: npm run test:steady -- [--runs N] [--busy N] [--project NAME]… [FILE]…
  --runs     how often the tests run (10)
  --busy     processes that compute beside them all the time (2)
  --project  projects of vitest (cluster, nodes)
  FILE       only test files whose path contains this
`;
/** Ends with its parent, also if that is killed: then the pipe has no other end. */
const BUSY =
  "process.stdin.resume().on('end', () => process.exit()); (function turn() { for (let i = 0; i < 1e8; i += 1); setImmediate(turn); })()";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '10' },
    busy: { type: 'string', default: '2' },
    project: { type: 'string', multiple: true, default: ['cluster', 'nodes'] },
    help: { type: 'boolean', default: false },
  },
});

const [runs, busy] = [Number(values.runs), Number(values.busy)];
if (values.help) {
  process.stdout.write(HELP);
} else if (!isWhole(runs, 1) || !isWhole(busy, 0)) {
  process.stderr.write(
    `error: expected --runs from 1 and --busy from 0, got ${values.runs} and ${values.busy}\n${HELP}`,
  );
  process.exitCode = 2;
} else {
  const neighbors = Array.from({ length: busy }, startBusyProcess);
  try {
    process.exitCode = (await repeat()) ? 0 : 1;
  } finally {
    for (const neighbor of neighbors) neighbor.kill('SIGKILL');
  }
}

async function repeat(): Promise<boolean> {
  const args = [...values.project.flatMap((name) => ['--project', name]), ...positionals];
  const results: (RunResult | undefined)[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const seed = String(randomInt(1, 2 ** 31));
    // oxlint-disable-next-line no-await-in-loop -- one run after the other
    results.push(await runVitest(args, { KUBENODE_SEED: seed }));
    process.stdout.write(`\n${describeSteadiness(results, runs).join('\n')}\n`);
  }
  return results.every((result) => result && countAll(result).failed === 0);
}

function startBusyProcess(): ChildProcess {
  return spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] });
}

function isWhole(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least;
}
