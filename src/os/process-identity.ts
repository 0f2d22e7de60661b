/**
 * Identifies a process beyond its pid, because pids are reused. The pid, the start time in clock ticks since boot
 * and the boot id together identify exactly one process.
 */
import { readFile } from 'node:fs/promises';
import { OsError, systemCode } from './errors.ts';

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
    const { state, startTicks } = parseStat(stat);
    // A zombie holds no port and no file: it counts as ended.
    if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
    return { pid, startTicks, bootId: bootId.trim(), command: commandLine.split('\0').slice(0, -1) };
  } catch (error) {
    // ESRCH: the process ended between two of the reads.
    if (['ENOENT', 'ESRCH'].includes(systemCode(error) ?? '')) return undefined;
    throw new OsError('Unsupported', `cannot read process ${pid}`, {
      where: `${proc}/${pid}`,
      hint: 'mount /proc: without it no process can be stopped safely',
      cause: error,
    });
  }
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

/** Fields 3 and 22. Field 2, the name, may contain spaces and parentheses. */
export function parseStat(stat: string): { state: string | undefined; startTicks: string | undefined } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], startTicks: fields[19] };
}
