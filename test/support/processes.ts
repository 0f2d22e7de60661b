/** The processes of this machine, as tests look for those that they started. */
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './eventually.ts';

/** Pids of the processes whose command line or environment contains the text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((file) => contains(file, text)))
    .map(Number)
    .filter((pid) => pid !== process.pid && stateOf(pid) !== 'Z');
}

export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => fieldsOf(pid)[1] === String(parent));
}

export function niceOf(pid: number): number {
  return Number(fieldsOf(pid)[16]);
}

/** The process with the mark in its command line or environment, and the text in its command line, once there is one. */
export function processWith(mark: string, text: string): Promise<number> {
  const find = async (): Promise<number | undefined> =>
    processesWith(mark).find((pid) => contains(`/proc/${pid}/cmdline`, text));
  return eventually(find, `no process with ${mark} and ${text}`);
}

export async function noProcessWith(text: string): Promise<void> {
  await eventually(
    async () => (processesWith(text).length === 0 ? true : undefined),
    `processes with ${text} did not end`,
  );
}

function stateOf(pid: number): string | undefined {
  return fieldsOf(pid)[0];
}

/** Returns the fields after the name, which may contain anything: state is the first, nice the seventeenth. None of a process that has ended. */
export function fieldsOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function contains(file: string, text: string): boolean {
  return read(file).includes(text);
}

/** Processes of other users, and those that have just ended, cannot be read. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
