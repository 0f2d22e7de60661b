/**
 * `npm run test:times`: runs all tests and writes what each file took into test/README.md. With files of results, which runs with
 * KUBENODE_RESULTS leave, it prints their table and runs nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { countAll } from './results.ts';
import { readResults } from './results-file.ts';
import { runVitest } from './run-vitest.ts';
import { formatTimes, type TimedRun } from './times-table.ts';

const README = join(import.meta.dirname, '../../README.md');
const [BEGIN, END] = ['<!-- npm run test:times writes from here -->', '<!-- to here -->'];
const RUNS = {
  'npm run test:all': ['unit', 'cluster'],
  'npm run test:nodes': ['nodes'],
};

const paths = process.argv.slice(2);
if (paths.length > 0) process.stdout.write(formatTimes(paths.map(readRun)));
else writeFileSync(README, replaceTable(readFileSync(README, 'utf8'), formatTimes(await measureAll())));

function readRun(path: string): TimedRun {
  const results = readResults(path);
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  return { command: path, seconds, files: results.flatMap(({ files }) => files) };
}

async function measureAll(): Promise<readonly TimedRun[]> {
  const measured: TimedRun[] = [];
  for (const [command, projects] of Object.entries(RUNS)) {
    // oxlint-disable-next-line no-await-in-loop -- one run after the other: beside another it would take longer
    const result = await runVitest(
      projects.flatMap((name) => ['--project', name]),
      { KUBENODE_TOGETHER: '1' },
    );
    if (!result || countAll(result).failed > 0) throw new Error(`${command} failed: nothing is written`);
    measured.push({ command, seconds: result.seconds, files: result.files });
  }
  return measured;
}

function replaceTable(text: string, table: string): string {
  const [before, rest = ''] = text.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${README} has no line ${BEGIN}, or none ${END}`);
  const machine = `Measured on ${availableParallelism()} cores with the programs in the cache.`;
  return `${before}${BEGIN}\n${machine}\n\n${table}${END}${after}`;
}
