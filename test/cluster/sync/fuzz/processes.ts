/** Two processes of sync that share the Leases in whatever way it happens. One that ends is replaced. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./sync-process.ts', import.meta.url));
const COUNT = 2;
/** Longer than a Lease, so that the other process takes over. */
const FREEZE_MS = 17_000;

export interface SyncProcesses {
  start(): void;
  /** Ends the process in that way, and starts another one. */
  end(identity: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Stops the process for longer than its Leases last. Returns immediately. */
  freeze(identity: string): void;
  thawAll(): void;
  identities(): readonly string[];
  /** The last lines of each log. */
  logTail(): string;
  stop(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly logFile: string;
  thaw?: NodeJS.Timeout;
}

export function createSyncProcesses(parent: string, kubeconfig: string): SyncProcesses {
  const running = new Map<string, Running>();
  let started = 0;
  return { start, end, freeze, thawAll, identities: () => [...running.keys()], logTail, stop };

  function start(): void {
    while (running.size < COUNT) launch();
  }

  function launch(): void {
    const identity = `sync-${(started += 1)}`;
    const folder = join(parent, identity);
    const logFile = join(parent, `${identity}.log`);
    mkdirSync(folder, { recursive: true });
    const args = [PROGRAM, kubeconfig, folder, identity];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const log = createWriteStream(logFile);
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    running.set(identity, { child, folder, logFile });
  }

  async function end(identity: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const one = running.get(identity);
    if (!one) return;
    thaw(one);
    await endProcess(one, signal);
    running.delete(identity);
    start();
  }

  function freeze(identity: string): void {
    const one = running.get(identity);
    if (!one || one.thaw) return;
    one.child.kill('SIGSTOP');
    one.thaw = setTimeout(() => thaw(one), FREEZE_MS);
  }

  function thawAll(): void {
    for (const one of running.values()) thaw(one);
  }

  function logTail(): string {
    return [...running].map(([identity, { logFile }]) => `${identity}:\n${tailOf(logFile)}`).join('\n');
  }

  async function stop(): Promise<void> {
    const all = [...running.values()];
    running.clear();
    for (const one of all) thaw(one);
    await Promise.all(all.map((one) => endProcess(one, 'SIGKILL')));
  }
}

function thaw(one: Running): void {
  if (!one.thaw) return;
  clearTimeout(one.thaw);
  delete one.thaw;
  one.child.kill('SIGCONT');
}

async function endProcess({ child, folder }: Running, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child.kill(signal);
  await exited;
  rmSync(folder, { recursive: true, force: true });
}

const TAIL_LINES = 300;

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}
