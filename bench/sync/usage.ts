/** Memory and CPU time of a process, from the kernel. Processes that it started are not included. */
import { readFile, writeFile } from 'node:fs/promises';

export interface ProcessUsage {
  readonly residentMiB: number;
  /** Since the start of the process, or since `resetPeak`. */
  readonly peakMiB: number;
  readonly cpuSeconds: number;
}

/** `sysconf(_SC_CLK_TCK)` on Linux. */
const TICKS_PER_SECOND = 100;

export async function readUsage(pid: number): Promise<ProcessUsage> {
  const [status, stat] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readFile(`/proc/${pid}/stat`, 'utf8'),
  ]);
  const mebibytes = (field: string): number =>
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  // After the name of the program, which may contain spaces: utime and stime are the fields 14 and 15 of the line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM'), cpuSeconds };
}

export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}
