/** `kubenode rules backtest` of a rule with the recording of a large fleet, against reading the same file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { replayFiles } from '../src/cli/commands/rules/backtest/replay-files.ts';
import { readRecordedLines } from '../src/rules/recording/read-lines.ts';
import { remedier } from '../test/support/remediers.ts';
import { testIo } from '../test/support/test-io.ts';
import { writeRecording } from './backtest/recording.ts';
import type { Bench, BenchResult } from './bench.ts';

const MACHINES = 10_000;
const WEEK_HOURS = 168;
/** A week has 17 GB. What it takes grows with the hours; what it needs in memory does not. */
const HOURS = 6;

const HUNG = { fact: 'condition', params: { type: 'FrequentTaskHung' } };
const HUNG_FOR_TWO_MINUTES = {
  '/rule/conditions': {
    all: [
      { ...HUNG, path: '$.status', operator: 'equal', value: 'True' },
      { ...HUNG, path: '$.observedSeconds', operator: 'greaterThanInclusive', value: 120 },
    ],
  },
  '/rule/gate': {
    all: [{ fact: 'node', path: '$.uptimeSeconds', operator: 'greaterThanInclusive', value: 900 }],
  },
  '/tests': [
    { name: 'hung', expect: 'Match', given: { ...hung('True'), ...upFor(900) } },
    { name: 'well', expect: 'NoMatch', given: { ...hung('False'), ...upFor(900) } },
    { name: 'just booted', expect: 'Held', given: { ...hung('True'), ...upFor(60) } },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};

function hung(status: string): object {
  return { condition: { FrequentTaskHung: { status, observedSeconds: 120 } } };
}

function upFor(uptimeSeconds: number): object {
  return { node: { uptimeSeconds } };
}

export const bench: Bench = {
  name: 'backtest',
  what: `a rule about hung kernels with the recording of ${MACHINES} nodes, against reading and checking the lines`,
  needsKubenodeFlags: true,
  run,
};

async function run(): Promise<BenchResult> {
  const hours = Number(env['KUBENODE_BENCH_HOURS'] ?? HOURS);
  const folder = mkdtempSync(join(env['KUBENODE_BENCH_DIR'] ?? tmpdir(), 'kubenode-bench-'));
  try {
    const path = join(folder, 'facts.jsonl');
    const written = writeRecording(path, { machines: MACHINES, hours });
    const replayed = await replay(path);
    const residentMiB = process.resourceUsage().maxRSS / 1024;
    const read = await cpuSecondsOf(() => readAll(path));
    const { cpuSeconds } = replayed;
    return {
      measured: {
        cpuSeconds,
        cpuMicrosecondsPerLine: (cpuSeconds * 1e6) / written.lines,
        seconds: replayed.seconds,
        weekCpuMinutes: ((cpuSeconds / 60) * WEEK_HOURS) / hours,
        residentMiB,
        fileMiB: written.bytes / 2 ** 20,
        matched: replayed.matched,
      },
      baseline: { cpuSeconds: read },
      ratios: { cpuSeconds: cpuSeconds / read },
      gates: [
        {
          what: 'matched of the machines that were ill',
          value: replayed.matched / written.ill,
          atLeast: 1,
          atMost: 1,
        },
        { what: 'MiB at the peak', value: residentMiB, atMost: 400 },
        { what: 'times the CPU seconds of reading the file', value: cpuSeconds / read, atMost: 25 },
      ],
      setting: { machines: MACHINES, hours, lines: written.lines, ill: written.ill },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function replay(
  path: string,
): Promise<{ readonly cpuSeconds: number; readonly seconds: number; readonly matched: number }> {
  const beganMs = performance.now();
  let matched = 0;
  const cpuSeconds = await cpuSecondsOf(async () => {
    const [report] = await replayFiles(testIo(), [path], [remedier(HUNG_FOR_TWO_MINUTES)]);
    matched = report?.nodes.matched ?? 0;
  });
  return { cpuSeconds, seconds: (performance.now() - beganMs) / 1000, matched };
}

async function readAll(path: string): Promise<void> {
  for await (const { line } of readRecordedLines([path], { warn: () => undefined })) {
    if (line.type === 'Contact') throw new Error('the recording has no such line');
  }
}

async function cpuSecondsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
