/**
 * `npm run test:steady -- --runs N`: runs the tests on real API servers and real nodes N times beside busy processes, each time in another
 * order, and lists what failed how often. The exit code is 1 after any failure.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeSteadiness } from './failure-table.ts';
import { countAll, type RunResult } from './results.ts';
import { appendResult, readResults } from './results-file.ts';
import { runVitest } from './run-vitest.ts';

const HELP = `usage: npm run test:steady -- [--runs N] [--busy N] [--project NAME]… [--results PATH] [FILE]…
  --runs     how often the tests run (10)
  --busy     processes that compute beside them all the time (2)
  --project  projects of vitest (cluster, e2e, nodes)
  --results  a file that keeps the result of each run: the same command continues with it after an interruption
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
    project: { type: 'string', multiple: true, default: ['cluster', 'e2e', 'nodes'] },
    results: { type: 'string' },
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
  const { results: file } = values;
  const results = file === undefined || !existsSync(file) ? [] : [...readResults(file)];
  while (results.length < runs) {
    // oxlint-disable-next-line no-await-in-loop -- one run after the other
    const result = await runOnce(args);
    results.push(result);
    if (file !== undefined) appendResult(file, result);
    process.stdout.write(`\n${describeSteadiness(results, runs).join('\n')}\n`);
  }
  return results.every((result) => countAll(result).failed === 0);
}

async function runOnce(args: readonly string[]): Promise<RunResult> {
  const seed = String(randomInt(1, 2 ** 31));
  const result = await runVitest(args, { env: { KUBENODE_SEED: seed } });
  return result ?? { seed, seconds: 0, files: [], errors: ['a run that ended without a result'] };
}

function startBusyProcess(): ChildProcess {
  return spawn(process.execPath, ['-e', BUSY], { stdio: ['pipe', 'ignore', 'inherit'] });
}

function isWhole(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least;
}
