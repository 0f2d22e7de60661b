/** What processes of this machine use, as Linux counts it. */
import { readFile } from 'node:fs/promises';
import { listProcesses } from '../../src/local/processes/observe.ts';

/** Clock ticks of /proc/PID/stat in a second, on every Linux. */
const TICKS = 100;

/** The memory of the processes; what several of them share, such as the code of their program, is counted once in all. */
export async function proportionalMiB(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, 'utf8')));
  return each.reduce((sum, text) => sum + Number(/^Pss: +(\d+)/m.exec(text)?.[1] ?? 0), 0) / 1024;
}

export async function residentMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)?.[1] ?? Number.NaN) / 1024;
}

export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS;
}

/** The processes that have a file below the folder in an argument. */
export async function processesIn(folder: string): Promise<readonly number[]> {
  const all = await listProcesses();
  return all
    .filter(({ command }) => command.some((each) => each.includes(`=${folder}/`)))
    .map(({ pid }) => pid);
}
