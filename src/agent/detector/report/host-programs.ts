/** The programs that run on this host, in a container or not. */
import { readdir, readFile } from 'node:fs/promises';
import { optional } from '../../../kube/objects/optional.ts';
import { readNpdReasons } from './npd-reasons.ts';

export interface HostPrograms {
  /** Names as the kernel keeps them: their first 15 characters. */
  readonly names: ReadonlySet<string>;
  /** Reasons of the Events that node-problem-detector writes; missing when it does not run, or its files cannot be read. */
  readonly npdReasons?: ReadonlySet<string>;
}

/** The kernel keeps so many characters of the name of a program. */
const NAME_LENGTH = 15;

export function programName(name: string): string {
  return name.slice(0, NAME_LENGTH);
}

/** Runs on the host whose conditions it writes, and nowhere else. */
export const NODE_PROBLEM_DETECTOR = 'node-problem-detector';

export async function readHostPrograms(proc = '/proc'): Promise<HostPrograms> {
  const names = new Set<string>();
  const npds: string[] = [];
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // A process may end while it is looked at.
    const name = (await readFile(`${proc}/${pid}/comm`, 'utf8').catch(() => '')).trim();
    if (name !== '') names.add(name);
    if (name === programName(NODE_PROBLEM_DETECTOR)) npds.push(`${proc}/${pid}`);
  }
  return { names, ...optional('npdReasons', await readNpdReasons(npds)) };
}
