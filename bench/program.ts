/** The program of the agent with Node.js inside, against Node.js with the bundle: memory while it waits for an API server, and start time. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildExecutable } from '../scripts/agent/executable.ts';
import { buildBundle } from '../scripts/bundle.ts';
import { NODE_FLAGS } from '../src/agent/install/own-unit.ts';
import { formatBootstrapConfig } from '../src/cli/local/bootstrap-config.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const STARTS = 20;
const IDLE_MS = 20_000;
const MIB = 1024;

export const bench: Bench = {
  name: 'program',
  what: 'the executable of the agent while it waits for an API server, and until it prints its version, against Node.js with the bundle',
  run,
};

interface ProgramNumbers {
  readonly residentMiB: number;
  /** Without pages of files, which the kernel shares and may drop. */
  readonly anonymousMiB: number;
  readonly startMs: number;
}

async function run(): Promise<BenchResult> {
  const work = await mkdtemp(join(tmpdir(), 'kubenode-bench-program-'));
  try {
    const { file: bundle } = await buildBundle('agent', work);
    const file = join(work, 'kubenode-agent');
    await buildExecutable({ bundle, file, work, arch: process.arch === 'arm64' ? 'arm64' : 'amd64' });
    const own = await measureProgram([file], work);
    const node = await measureProgram([execPath, ...NODE_FLAGS, bundle], work);
    return {
      measured: { ...own, sizeMiB: (await stat(file)).size / MIB ** 2 },
      baseline: { ...node },
      ratios: { anonymousMiB: own.anonymousMiB / node.anonymousMiB, startMs: own.startMs / node.startMs },
      gates: [{ what: 'resident MiB while it waits', value: own.residentMiB, atMost: 100 }],
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function measureProgram(command: readonly string[], work: string): Promise<ProgramNumbers> {
  const [program = '', ...words] = command;
  const starts = Array.from({ length: STARTS }, () => {
    const begin = performance.now();
    spawnSync(program, [...words, '--version']);
    return performance.now() - begin;
  });
  return { ...(await measureIdle(program, words, work)), startMs: percentile(starts, 0.5) };
}

async function measureIdle(
  program: string,
  words: readonly string[],
  work: string,
): Promise<Pick<ProgramNumbers, 'residentMiB' | 'anonymousMiB'>> {
  const bootstrap = join(work, 'bootstrap.json');
  const server = 'https://127.0.0.1:1';
  await writeFile(bootstrap, formatBootstrapConfig({ server, ca: undefined, user: { token: 'a.b' } }));
  const directory = await mkdtemp(join(work, 'host-'));
  const flags = ['--machine', 'n1', '--directory', directory, '--bootstrap', bootstrap];
  const agent = spawn(program, [...words, 'run', ...flags], { stdio: 'ignore' });
  try {
    await sleep(IDLE_MS);
    return await readMemory(agent);
  } finally {
    const ended = once(agent, 'exit');
    agent.kill();
    await ended;
  }
}

async function readMemory({ pid }: ChildProcess): Promise<{ residentMiB: number; anonymousMiB: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kibibytes = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return { residentMiB: kibibytes('VmRSS') / MIB, anonymousMiB: kibibytes('RssAnon') / MIB };
}
