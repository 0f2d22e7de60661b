/**
 * `npm run test:times`: runs all tests and writes what each file took into test/README.md. `npm run test:times -- FILE` runs nothing: it
 * takes the results of the last such runs from FILE, where KUBENODE_RESULTS=FILE left them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { countAll, type RunResult } from './results.ts';
import { readResults } from './results-file.ts';
import { runVitest } from './run-vitest.ts';
import { formatTimes, type TimedRun } from './times-table.ts';

const README = join(import.meta.dirname, '../../README.md');
const [BEGIN, END] = ['<!-- npm run test:times writes from here -->', '<!-- to here -->'];
interface Run {
  readonly command: string;
  readonly projects: readonly string[];
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const RUNS: readonly Run[] = [
  {
    command: 'npm run test:ci',
    projects: ['unit', 'cluster', 'e2e', 'nodes'],
    args: [],
    env: { KUBENODE_TOGETHER: 'ci' },
  },
];

const [path] = process.argv.slice(2);
const results = path === undefined ? await runAll() : readResults(path);
writeFileSync(README, replaceTable(readFileSync(README, 'utf8'), formatTimes(RUNS.map(pickRun))));

async function runAll(): Promise<readonly RunResult[]> {
  const found: RunResult[] = [];
  for (const { args, env } of RUNS) {
    // oxlint-disable-next-line no-await-in-loop -- one run after the other: beside another it would take longer
    const result = await runVitest(args, env === undefined ? {} : { env });
    if (result) found.push(result);
  }
  return found;
}

function pickRun({ command, projects }: Run): TimedRun {
  const result = results.findLast(({ files }) => {
    const found = new Set(files.map(({ project }) => project));
    return found.size === projects.length && projects.every((name) => found.has(name));
  });
  if (!result || countAll(result).failed > 0) {
    throw new Error(`${command} failed or did not run: nothing is written`);
  }
  return { command, ...result };
}

function replaceTable(text: string, table: string): string {
  const [before, rest = ''] = text.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${README} has no line ${BEGIN}, or none ${END}`);
  const machine = `Measured on ${availableParallelism()} cores with the programs in the cache.`;
  return `${before}${BEGIN}\n${machine}\n\n${table}${END}${after}`;
}
