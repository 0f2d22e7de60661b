/**
 * Starts and finds processes of the units of a sandbox. Each carries its unit in its environment, and so does everything that it starts: a
 * unit is stopped as a whole, and a process that was started just before the agent was killed is found again.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path/posix';
import { optional } from '../../../kube/objects/optional.ts';
import { systemCode } from '../../../os/errors.ts';
import { childEnvironment } from '../../../os/process/child.ts';
import { readEnvironment } from '../../../os/process/environment.ts';
import {
  isRunning,
  type ProcessIdentity,
  readProcessIdentity,
  statFields,
} from '../../../os/process/identity.ts';
import { listPids } from '../../../os/process/table.ts';
import { HostError } from '../errors.ts';
import type { UnitDefinition, UnitProcess } from '../port.ts';
import { createProgramDigests } from '../program-digest.ts';
import { suspensionOf } from '../suspension.ts';
import type { SandboxFolders } from './folders.ts';
import { LOG_BYTES } from './logs.ts';
import type { UnitMain } from './unit-state.ts';

const UNIT_VARIABLE = 'KUBENODE_SANDBOX_UNIT';

export interface StartedUnit {
  /** The main process; undefined when it has ended already. */
  readonly main: UnitMain | undefined;
  /** Resolves with `exit code N` or the name of the signal. */
  readonly ended: Promise<string>;
}

/** The shell script that keeps the exit code of a hook in a file: the agent may be another one when it ends. */
const KEEP_EXIT_CODE = '"$@"; code=$?; echo "$code" > "$0"; exit "$code"';

export async function spawnUnit(
  folders: SandboxFolders,
  unit: UnitDefinition,
  startedAt: Date,
): Promise<StartedUnit> {
  const { exec, name } = unit;
  if (!exec) throw new HostError('NotSupported', `unit ${name} has no exec`, { where: name });
  const { pid, ended } = await spawnChild(folders, unit, exec);
  const identity = await readProcessIdentity(pid);
  return { main: identity && { ...identity, startedAt: startedAt.toISOString() }, ended };
}

async function spawnChild(
  folders: SandboxFolders,
  { name, type }: UnitDefinition,
  { argv, env, workingDirectory }: NonNullable<UnitDefinition['exec']>,
): Promise<{ readonly pid: number; readonly ended: Promise<string> }> {
  const [program = '', ...args] =
    type === 'OneShot' ? ['/bin/sh', '-c', KEEP_EXIT_CODE, folders.exitFile(name), ...argv] : argv;
  const log = await openLog(folders.logFile(name));
  try {
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      cwd: workingDirectory ?? folders.root,
      env: { ...childEnvironment(), ...env, [UNIT_VARIABLE]: unitMark(folders, name) },
    });
    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    await once(child, 'spawn');
    child.unref();
    return { pid: child.pid as number, ended };
  } catch (error) {
    throw new HostError('UnitFailed', `unit ${name} could not be started (${systemCode(error)})`, {
      where: program,
      hint: 'check that the program exists, is executable, and was built for this machine',
      cause: error,
    });
  } finally {
    await log.close();
  }
}

async function openLog(file: string): Promise<Awaited<ReturnType<typeof open>>> {
  await mkdir(dirname(file), { recursive: true });
  const size = (await stat(file).catch(() => undefined))?.size ?? 0;
  if (size > LOG_BYTES) await rename(file, `${file}.1`);
  return await open(file, 'a', 0o600);
}

/** Takes this process out of its unit: what it starts from now on does not belong to the unit, and does not end with it. */
export function leaveUnit(): void {
  delete process.env[UNIT_VARIABLE];
}

function unitMark({ root }: SandboxFolders, unit: string): string {
  return `${root}//${unit}`;
}

/** Returns the pids of all processes of the unit, or of all units of the sandbox. */
export async function unitPids(folders: SandboxFolders, unit?: string): Promise<readonly number[]> {
  const prefix = `${UNIT_VARIABLE}=${unitMark(folders, unit ?? '')}`;
  const found: number[] = [];
  for (const pid of await listPids()) {
    const variables = await readEnvironment(pid);
    const isOurs = (each: string): boolean =>
      unit === undefined ? each.startsWith(prefix) : each === prefix;
    if (variables.some(isOurs)) found.push(pid);
  }
  return found;
}

/** Finds the process that was spawned, among those of the unit: it leads their session. */
export async function findMain(
  folders: SandboxFolders,
  unit: string,
  now: Date,
): Promise<UnitMain | undefined> {
  for (const pid of await unitPids(folders, unit)) {
    const identity = (await sessionOf(pid)) === pid ? await readProcessIdentity(pid) : undefined;
    if (identity) return { ...identity, startedAt: now.toISOString() };
  }
  return undefined;
}

async function sessionOf(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(statFields(text)(6));
}

export function isAlive(main: ProcessIdentity | undefined): boolean {
  return main !== undefined && isRunning(main);
}

/** Sends a signal to processes. A process that ended meanwhile is not an error. */
export function sendSignal(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
  }
}

const readProgramDigest = createProgramDigests();

export async function describeProcess(main: UnitMain): Promise<UnitProcess> {
  const { pid, startTicks, startedAt, scriptDigest } = main;
  const programDigest = scriptDigest ?? (await readProgramDigest(pid, startTicks));
  const suspended = await suspensionOf(pid);
  return {
    pid,
    startId: startTicks,
    startedAt,
    ...optional('programDigest', programDigest),
    ...suspended,
  };
}

/** Returns the digest of the script of a unit; undefined when its program is a binary. */
export async function readScriptDigest({ exec }: UnitDefinition): Promise<string | undefined> {
  const path = exec?.argv[0] ?? '';
  const content = await readStart(path);
  if (content?.toString('latin1') !== '#!') return undefined;
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

async function readStart(path: string): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return undefined;
  try {
    return (await file.read(Buffer.alloc(2), 0, 2, 0)).buffer;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
