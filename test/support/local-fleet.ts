/** `kubenode local` on a folder that is removed even if the test fails. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Io } from '../../src/cli/io.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { stopLocalFleet } from '../../src/local/fleet.ts';
import { createLayout } from '../../src/local/layout.ts';
import { observeProcesses } from '../../src/local/processes/observe.ts';
import type { LocalFleetStatus } from '../../src/local/status.ts';
import type { ProcessIdentity } from '../../src/os/process/identity.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/**
 * As in a shell, also when npm runs the tests. Every step is reported, also the short ones. Read at each call: each test file has a
 * folder for temporary files of its own, and this module may be loaded by the file before.
 */
export function shellEnv(): NodeJS.ProcessEnv {
  const { npm_command: _byNpm, ...inherited } = process.env;
  return { ...inherited, KUBENODE_PROGRESS: 'all' };
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LocalFleet {
  readonly dir: string;
  /** `kubenode local <args>` on this fleet. */
  run(args: readonly string[]): Promise<Ended>;
  /** The same as a separate process, killed as soon as its stderr contains that text. Resolves with the signal that ended it. */
  killAt(moment: string, args: readonly string[]): Promise<NodeJS.Signals | null>;
  /** The same, but rejects unless it exits with 0. */
  ok(...args: string[]): Promise<Ended>;
  status(): Promise<LocalFleetStatus>;
  /** The running processes, from the kernel. */
  processes(): Promise<readonly ProcessIdentity[]>;
  clear(): Promise<void>;
}

export function localFleet(parent: string): LocalFleet {
  const dir = join(parent, 'fleet');
  const fleet: LocalFleet = {
    dir,
    run: (args) => runHere(['local', ...args, '--dir', dir]),
    killAt: (moment, args) => runAndKill([MAIN, 'local', ...args, '--dir', dir], moment),
    async ok(...args) {
      const ended = await fleet.run(args);
      if (ended.code === 0) return ended;
      throw new Error(`kubenode local ${args.join(' ')} ended with ${ended.code}:\n${ended.stderr}`);
    },
    async status() {
      return JSON.parse((await fleet.run(['status', '-o', 'json'])).stdout) as LocalFleetStatus;
    },
    async processes() {
      return [...(await observeProcesses([], createLayout(dir))).identities.values()];
    },
    async clear() {
      await stopLocalFleet({ dir, clock: createSystemClock(), onStep: () => undefined, wipe: true });
    },
  };
  return fleet;
}

/** The whole command line interface in this process, which saves the start of a process. */
async function runHere(args: readonly string[]): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  const io: Io = {
    out: (text) => void (stdout += text),
    err: (text) => void (stderr += text),
    env: shellEnv(),
    cwd: process.cwd(),
    clock: createSystemClock(),
    interactive: false,
    color: false,
    screen: () => undefined,
    signal: new AbortController().signal,
  };
  const code = await runCommandLine(io, args);
  return { code, stdout, stderr };
}

function runAndKill(args: readonly string[], moment: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, args, { env: shellEnv(), stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (stderr.includes(moment)) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_, signal) => resolve(signal));
  });
}
