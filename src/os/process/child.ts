/** Starts child processes that outlive this one, in a session of their own, and stops them by identity. */
import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import { OsError, systemCode } from '../errors.ts';
import { toDiskError } from '../files.ts';
import { pollUntil } from '../poll.ts';
import { isRunning, type ProcessIdentity, readProcessIdentity } from './identity.ts';

export interface Command {
  /** The path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  /** The variables that are set besides the few that are passed on. */
  readonly env?: Readonly<Record<string, string>>;
}

const POLL_MS = 50;
const TERM_MS = 20_000;
const LOG_TAIL_LINES = 12;
const LOG_BYTES = 16 * 1024 ** 2;

/** Passes on few variables: a proxy or a GODEBUG of the user's shell would change how the program behaves. */
export function childEnvironment(): Record<string, string> {
  const ours = Object.entries(process.env).filter(([name]) => name.startsWith('KUBENODE_'));
  const { PATH = '/usr/bin:/bin', HOME = '/' } = process.env;
  return { ...(Object.fromEntries(ours) as Record<string, string>), PATH, HOME, LANG: 'C.UTF-8' };
}

/** How much memory programs in Go take before they collect garbage. A person who sets these means every API server and etcd that we start. */
const GO_MEMORY = ['GOGC', 'GOMEMLIMIT'] as const;

function goMemory(): Record<string, string> {
  const set = GO_MEMORY.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(set) as Record<string, string>;
}

export async function startProcess(command: Command, logFile: string): Promise<ProcessIdentity> {
  await rotateLog(logFile);
  const log = await open(logFile, 'a', 0o600).catch((error: unknown) => {
    throw toDiskError(error, logFile);
  });
  try {
    const child = spawn(command.program, command.args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { ...childEnvironment(), ...goMemory(), ...command.env },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(startError(command, error)));
    });
    child.unref();
    const identity = child.pid === undefined ? undefined : await readProcessIdentity(child.pid);
    if (!identity) throw await createExitError(command, logFile);
    return identity;
  } finally {
    await log.close();
  }
}

/** Keeps one older log, so that logs cannot fill the disk. */
export async function rotateLog(logFile: string): Promise<void> {
  const size = (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if (size > LOG_BYTES) await rename(logFile, `${logFile}.1`);
}

/**
 * Stops a process by SIGTERM, then SIGKILL, or by SIGKILL at once when `termMs` is 0. Never signals another process that reused the pid.
 */
export async function stopProcess(identity: ProcessIdentity, clock: Clock, termMs = TERM_MS): Promise<void> {
  if (termMs > 0) {
    if (!(await signalProcess(identity, 'SIGTERM'))) return;
    if (await endsWithin(identity, clock, termMs)) return;
  }
  await signalProcess(identity, 'SIGKILL');
  if (await endsWithin(identity, clock, TERM_MS)) return;
  throw new OsError('NotStopped', `${basename(identity.command[0] ?? '')} did not end after SIGKILL`, {
    where: `pid ${identity.pid}`,
    hint: 'inspect it with ps: it may wait for a disk that does not respond',
  });
}

/** Kills a child together with the processes that it started. It must have been spawned with `detached`, in its own group. */
export function killProcessGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
}

/**
 * Kills the processes that a child which has ended left behind in its group. Call it while its `exit` is handled: the group keeps its
 * number as long as a process is in it, and a number that was freed a moment ago is not given to another group.
 */
export function killLeftBehind(child: ChildProcess): void {
  killGroup(child);
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}

/** Sends a signal, and tells whether the process still ran. Never signals another process that reused the pid. */
export async function signalProcess(identity: ProcessIdentity, name: NodeJS.Signals): Promise<boolean> {
  if (!isRunning(identity)) return false;
  try {
    process.kill(identity.pid, name);
    return true;
  } catch {
    return isRunning(identity);
  }
}

async function endsWithin(identity: ProcessIdentity, clock: Clock, ms: number): Promise<boolean> {
  const deadlineMs = clock.monotonicMs() + ms;
  return await pollUntil(async () => !isRunning(identity), { clock, everyMs: POLL_MS, deadlineMs });
}

/** Creates an error that contains the end of the log, which usually explains the exit. */
export async function createExitError({ program }: Command, logFile: string): Promise<OsError> {
  return new OsError(
    'Exited',
    `${basename(program)} ended before it was ready\n${await readLogTail(logFile)}`,
    {
      where: logFile,
      hint: 'read the log; if a port is taken or the disk is full, free it and try again',
    },
  );
}

export async function readLogTail(
  logFile: string,
  format: (line: string) => string = (line) => line,
): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const lines = text.trimEnd().split('\n').slice(-LOG_TAIL_LINES);
  return lines.map((line) => `  | ${format(line).slice(0, 300)}`).join('\n');
}

function startError({ program }: Command, cause: NodeJS.ErrnoException): OsError {
  return new OsError('Exited', `${basename(program)} could not be started (${cause.code ?? cause.message})`, {
    where: program,
    hint: 'check that the file exists, is executable, and was built for this machine',
    cause,
  });
}
