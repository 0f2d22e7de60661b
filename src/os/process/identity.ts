/**
 * Identifies a process beyond its pid, because pids are reused. The pid, the start time in clock ticks since boot
 * and the boot id together identify exactly one process.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { OsError, systemCode } from '../errors.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and start, as in /proc. */
  readonly startTicks: string;
  readonly bootId: string;
  /** The program and its arguments, as started. */
  readonly command: readonly string[];
}

/** The process that has this pid now; undefined when there is none, or only a zombie. */
export async function readProcessIdentity(pid: number, proc = '/proc'): Promise<ProcessIdentity | undefined> {
  try {
    const [stat, commandLine, bootId] = await Promise.all([
      readFile(`${proc}/${pid}/stat`, 'utf8'),
      readFile(`${proc}/${pid}/cmdline`, 'utf8'),
      readFile(`${proc}/sys/kernel/random/boot_id`, 'utf8'),
    ]);
    const startTicks = runningSince(stat);
    if (startTicks === undefined) return undefined;
    return { pid, startTicks, bootId: bootId.trim(), command: commandLine.split('\0').slice(0, -1) };
  } catch (error) {
    return endedOrThrow(error, `${proc}/${pid}`);
  }
}

/**
 * Whether it still runs, for supervisors that ask all the time. A read of kernel memory waits for no disk, and costs less than
 * to hand it to a thread. Without a boot id it was started in this boot.
 */
export function isRunning(
  { pid, startTicks, bootId }: Pick<ProcessIdentity, 'pid' | 'startTicks'> & { readonly bootId?: string },
  proc = '/proc',
): boolean {
  const read = (path: string): string => readFileSync(`${proc}/${path}`, 'utf8');
  try {
    if (bootId !== undefined && read('sys/kernel/random/boot_id').trim() !== bootId) return false;
    return runningSince(read(`${pid}/stat`)) === startTicks;
  } catch (error) {
    return endedOrThrow(error, `${proc}/${pid}`) ?? false;
  }
}

/** Whether a signal has stopped it: it exists, and does nothing until another signal continues it. Not one that a debugger traces. */
export async function isSuspended(pid: number, proc = '/proc'): Promise<boolean> {
  try {
    return parseStat(await readFile(`${proc}/${pid}/stat`, 'utf8')).state === 'T';
  } catch (error) {
    return endedOrThrow(error, `${proc}/${pid}`) ?? false;
  }
}

/**
 * Undefined for a zombie: it holds no port and no file, and counts as ended. A process whose first thread is a zombie while others
 * still exit does hold them: after a SIGKILL that takes a moment, in which the next one could not listen on its port.
 */
function runningSince(stat: string): string | undefined {
  const { state, startTicks, threads } = parseStat(stat);
  const hasEnded = (state === 'Z' && threads <= 1) || state === 'X';
  return hasEnded ? undefined : startTicks;
}

function endedOrThrow(error: unknown, where: string): undefined {
  // ESRCH: the process ended between two of the reads.
  if (['ENOENT', 'ESRCH'].includes(systemCode(error) ?? '')) return undefined;
  throw new OsError('Unsupported', `cannot read process ${where.split('/').at(-1)}`, {
    where,
    hint: 'mount /proc: without it no process can be stopped safely',
    cause: error,
  });
}

/** Does not compare the command line: a process may exec another program or change its title. */
export function isSameProcess(known: ProcessIdentity, found: ProcessIdentity | undefined): boolean {
  return (
    found !== undefined &&
    found.pid === known.pid &&
    found.startTicks === known.startTicks &&
    found.bootId === known.bootId
  );
}

interface ProcessStat {
  readonly state: string | undefined;
  readonly threads: number;
  readonly startTicks: string | undefined;
}

export function parseStat(stat: string): ProcessStat {
  const field = statFields(stat);
  return { state: field(3), threads: Number(field(20)), startTicks: field(22) };
}

/** By the numbers of proc(5), from 3 on. Field 2, the name, may contain spaces and parentheses. */
export function statFields(stat: string): (number: number) => string | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (number) => fields[number - 3];
}
