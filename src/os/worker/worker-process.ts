/**
 * Runs one of our programs in a process of its own, for work that would block the event loop or need much memory here. The process has a
 * lower priority and a memory limit. It ends when this process ends, because its channel closes: see `serveParent`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { killProcessGroup } from '../process/child.ts';
import { limitChild } from './child-prefix.ts';

export interface WorkerProgram {
  readonly program: string;
  readonly heapMiB: number;
  /** The limit of its memory in total. It is not enforced where prlimit is missing. */
  readonly memoryMiB: number;
  /** The limit of its CPU time. It is not enforced where prlimit is missing. */
  readonly cpuSeconds?: number | undefined;
  readonly onMessage: (message: unknown) => void;
}

export interface WorkerProcess {
  send(message: object): void;
  /** Sets whether the worker is idle. An idle worker does not keep this process running. */
  setIdle(idle: boolean): void;
  /** Asks the worker to end, and kills it if it does not. Resolves when it has ended. */
  end(): Promise<WorkerEnd>;
  readonly ended: Promise<WorkerEnd>;
}

export interface WorkerEnd {
  /** `SIGKILL`, or the exit code. */
  readonly how: string;
  readonly outOfMemory: boolean;
  readonly outOfCpu: boolean;
  /** The end of its stderr. */
  readonly log: string;
}

const PRIORITY = 10;
const END_MS = 2000;
const MAX_LOG = 4096;
// Messages of V8 and of the C++ library.
const NO_MEMORY =
  /heap out of memory|process out of memory|Failed to allocate|bad_alloc|Array buffer allocation failed/;

export function startWorker({ program, heapMiB, onMessage, ...limits }: WorkerProgram): WorkerProcess {
  const flags = [`--max-old-space-size=${heapMiB}`, '--no-warnings'];
  const command: readonly string[] = [...limitChild(limits), process.execPath, ...flags, program];
  const [file = process.execPath, ...args] = command;
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    // Signals of a terminal do not reach it: this process decides when it ends.
    detached: true,
  });
  lowerPriority(child);
  child.on('message', onMessage);
  const ended = endOf(child);
  return { send, setIdle, end, ended };

  function send(message: object): void {
    // Fails when the worker has just ended, which `ended` reports.
    if (child.connected) child.send(message, () => undefined);
  }

  function setIdle(idle: boolean): void {
    for (const handle of [child, child.channel, child.stderr as Socket | null]) {
      if (idle) handle?.unref();
      else handle?.ref();
    }
  }

  async function end(): Promise<WorkerEnd> {
    setIdle(false);
    if (child.connected) child.disconnect();
    const timer = setTimeout(() => killProcessGroup(child), END_MS);
    const result = await ended;
    clearTimeout(timer);
    return result;
  }
}

/** Serves the parent from the program of a worker: `stop` is called when the parent has ended, or asks the worker to end. */
export function serveParent(onMessage: (message: unknown) => void, stop: () => Promise<void> | void): void {
  process.on('message', onMessage);
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), END_MS);
    void Promise.resolve(stop()).finally(() => process.exit(0));
  });
}

/** Sends a message to the parent. Resolves when the parent has taken it, so that messages do not pile up here. */
export function sendToParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    // It fails only when the parent has ended: then this process ends, too.
    if (process.connected) process.send?.(message, undefined, {}, () => resolve());
  });
}

/** Lowers the priority of the worker, which the processes that it starts inherit. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY);
  } catch {
    // It has ended, or this platform has no priorities.
  }
}

/** Waits until the worker has ended, without its event `close`, which Node does not emit when this process has closed the channel. */
async function endOf(child: ChildProcess): Promise<WorkerEnd> {
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-MAX_LOG);
  });
  const allRead = new Promise<void>((resolve) => void child.stderr?.once('close', () => resolve()));
  const how = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  await allRead;
  return { how, log, outOfMemory: NO_MEMORY.test(log), outOfCpu: how === 'SIGXCPU' };
}
