/** `kubenode sync` as users run it, in a process of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';

const BIN = new URL('../../bin/kubenode.js', import.meta.url).pathname;
/** Of its log, for a process that fails. */
const MAX_LOG = 4000;

/** Fills the cache of compiled code (bin/kubenode.js): the package needs no types stripped, and a checkout only the first time. */
export function compileProgram(): void {
  execFileSync(execPath, [BIN, '--version']);
}

export function startSyncProcess(args: readonly string[]): ChildProcess {
  const child = spawn(execPath, [BIN, 'sync', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text: Buffer) => {
    log = (log + text.toString()).slice(-MAX_LOG);
  });
  child.once('exit', (code) => {
    if (code) process.stderr.write(`kubenode sync exited with ${code}:\n${log}\n`);
  });
  return child;
}

export function runs(child: ChildProcess | undefined): child is ChildProcess {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

export async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!runs(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
