/**
 * Who a process is. A pid alone says little: pids are reused, and after a reboot all of them are strangers.
 * With the moment of its start, in clock ticks since a boot with that id, it can only be the one that we started.
 */
import { readFile } from 'node:fs/promises';
import { LocalError, systemCode } from './errors.ts';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks between boot and start, as the kernel writes them. */
  readonly startTicks: string;
  readonly bootId: string;
  /** The program and its arguments, as started. */
  readonly command: readonly string[];
}

/** What the kernel says of this pid now; undefined when there is no such process, or only what is left of one. */
export async function readProcessIdentity(pid: number, proc = '/proc'): Promise<ProcessIdentity | undefined> {
  try {
    const [stat, commandLine, bootId] = await Promise.all([
      readFile(`${proc}/${pid}/stat`, 'utf8'),
      readFile(`${proc}/${pid}/cmdline`, 'utf8'),
      readFile(`${proc}/sys/kernel/random/boot_id`, 'utf8'),
    ]);
    const { state, startTicks } = parseStat(stat);
    // A zombie holds no port and no file: for us it has ended.
    if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
    return { pid, startTicks, bootId: bootId.trim(), command: commandLine.split('\0').slice(0, -1) };
  } catch (error) {
    // ESRCH: it ended between two of the reads.
    if (['ENOENT', 'ESRCH'].includes(systemCode(error) ?? '')) return undefined;
    throw new LocalError('Unsupported', `what runs as pid ${pid} cannot be told`, {
      where: `${proc}/${pid}`,
      hint: 'mount /proc; without it no process can be stopped safely',
      cause: error,
    });
  }
}

/** Not by its command line: a program may put another one in its place, and change its title. */
export function isSameProcess(known: ProcessIdentity, found: ProcessIdentity | undefined): boolean {
  return (
    found !== undefined &&
    found.pid === known.pid &&
    found.startTicks === known.startTicks &&
    found.bootId === known.bootId
  );
}

/** Fields 3 and 22; the second one, the name, may itself contain blanks and brackets. */
export function parseStat(stat: string): { state: string | undefined; startTicks: string | undefined } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], startTicks: fields[19] };
}
