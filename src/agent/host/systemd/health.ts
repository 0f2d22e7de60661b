/** Reads the health of a machine from /proc. */
import { readdir } from 'node:fs/promises';
import { optional } from '../../../kube/objects/optional.ts';
import { readFileIfExists } from '../../../os/files.ts';
import type { HostHealth } from '../port.ts';

export async function readHealth(proc = '/proc'): Promise<HostHealth> {
  const [memory, io] = [
    await readPressure(`${proc}/pressure/memory`),
    await readPressure(`${proc}/pressure/io`),
  ];
  return {
    blockedTasks: await readBlockedTasks(proc),
    ...optional('pressure', memory === undefined || io === undefined ? undefined : { memory, io }),
  };
}

/** Reads a pressure; undefined where the kernel does not measure it. */
async function readPressure(path: string): Promise<number | undefined> {
  // Some kernels have the file, but reading it fails.
  const text = await readFileIfExists(path).catch(() => undefined);
  const percent = /^full .*avg60=(?<percent>[\d.]+)/m.exec(text ?? '')?.groups?.['percent'];
  return percent === undefined ? undefined : Number(percent);
}

async function readBlockedTasks(proc: string): Promise<readonly string[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const tasks: string[] = [];
  // One after the other: a thousand open files at once would be a load of its own.
  for (const pid of pids) tasks.push(...(await readBlockedTask(proc, pid)));
  return tasks;
}

/** Reads a process, if it is blocked. The process may end while it is read. */
async function readBlockedTask(proc: string, pid: string): Promise<readonly string[]> {
  const stat = await readText(`${proc}/${pid}/stat`);
  // The name of the program may contain spaces and parentheses. The start time is the 22nd field.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state !== 'D') return [];
  const status = await readText(`${proc}/${pid}/status`);
  const switches = [...status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)$/gm)];
  const runs = switches.reduce((sum, [, count]) => sum + Number(count), 0);
  return [`${pid}-${fields[18] ?? ''}-${runs}`];
}

async function readText(path: string): Promise<string> {
  return (await readFileIfExists(path).catch(() => undefined)) ?? '';
}
