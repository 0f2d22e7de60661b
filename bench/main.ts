/**
 * `npm run bench [name…]`: runs the benchmarks one after the other, each in its own process, and prints one
 * JSON line for each. Exits with 1 if a gate fails, with 2 if a benchmark could not be run.
 */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { argv, execPath, exit, stderr, stdout } from 'node:process';
import { type Bench, type BenchResult, type Gate, KUBENODE_FLAGS, passes } from './bench.ts';

const NOT_BENCHES = new Set(['main.ts', 'bench.ts']);
const here = new URL('./', import.meta.url);

const [flag, ...rest] = argv.slice(2);
exit(flag === '--only' ? await runHere(rest[0] ?? '') : await runAll(argv.slice(2)));

async function runAll(asked: readonly string[]): Promise<number> {
  const known = readdirSync(here)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !NOT_BENCHES.has(file))
    .map((file) => file.replace(/\.ts$/, ''))
    .toSorted();
  const unknown = asked.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    stderr.write(`unknown benchmark ${unknown.join(', ')}: use one of ${known.join(', ')}\n`);
    return 2;
  }
  let worst = 0;
  for (const name of asked.length > 0 ? asked : known) {
    stderr.write(`${name} …\n`);
    // oxlint-disable-next-line no-await-in-loop -- in parallel they would measure each other
    worst = Math.max(worst, await runInChild(name).catch((error: unknown) => notRun(name, error)));
  }
  return worst;
}

/** In its own process, so that memory is measured separately. */
async function runInChild(name: string): Promise<number> {
  const { needsKubenodeFlags } = await load(name);
  const nodeOptions = ['--expose-gc', '--no-warnings', ...(needsKubenodeFlags ? KUBENODE_FLAGS : [])];
  const child = spawn(execPath, [...nodeOptions, new URL('main.ts', here).pathname, '--only', name], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 2));
  });
}

async function runHere(name: string): Promise<number> {
  try {
    const bench = await load(name);
    const result = await bench.run();
    for (const gate of result.gates) stderr.write(`  ${gateText(gate)}\n`);
    stdout.write(`${JSON.stringify(lineOf(bench, result))}\n`);
    return result.gates.every(passes) ? 0 : 1;
  } catch (error) {
    return notRun(name, error);
  }
}

function gateText(gate: Gate): string {
  const { what, value, atMost, atLeast } = gate;
  const limits = [
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
  ];
  return `${passes(gate) ? 'held' : 'MISSED'}: ${round(value)} ${what} (${limits.join(', ')})`;
}

function notRun(name: string, error: unknown): number {
  stderr.write(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 2;
}

async function load(name: string): Promise<Bench> {
  const { bench } = (await import(new URL(`${name}.ts`, here).href)) as { readonly bench: Bench };
  return bench;
}

function lineOf({ name, what }: Bench, { measured, baseline, ratios, gates, setting }: BenchResult): unknown {
  return {
    bench: name,
    what,
    passed: gates.every(passes),
    measured: rounded(measured),
    baseline: rounded(baseline),
    ratios: rounded(ratios),
    gates: gates.map((gate) => ({ ...gate, value: round(gate.value), passed: passes(gate) })),
    setting: { node: process.version, cpus: navigator.hardwareConcurrency, ...setting },
  };
}

function rounded(numbers: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, round(value)]));
}

/** Three significant digits: the measurements are not more precise. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}
