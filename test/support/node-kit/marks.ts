/**
 * Names that contain their owner: the process id of the run is in the name of each bridge, cgroup and machine. So the
 * next run can clean up after a killed run without any record.
 */
import { isAlive, RUN_MARK } from '../leak-guard/leaks.ts';

/** The main process of vitest, which outlives the workers; without vitest, this process. */
export function runPid(): number {
  return Number((process.env[RUN_MARK] ?? String(process.pid)).split('-')[0]);
}

/** `kn<pid in base 36>x<n>`: at most 15 characters, the kernel's limit for an interface name. */
export function nameOf(number: number): string {
  return `${prefixOf(runPid())}${number}`;
}

export function prefixOf(pid: number): string {
  return `kn${pid.toString(36)}x`;
}

/** Whether its run ended without cleaning up. */
export function isStale(name: string): boolean {
  const pid = /^kn(?<pid>[0-9a-z]+)x\d+$/.exec(name)?.groups?.['pid'];
  return pid !== undefined && !isAlive(Number.parseInt(pid, 36));
}

/** vitest numbers its workers from 1: each has a hundred numbers for the nodes and bridges of its file. */
const FIRST = (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10) * 100;

/** Returns a number that no other node or bridge of this run has. */
let used = process.pid % 100;
export function nextNumber(): number {
  used = (used + 1) % 100;
  return FIRST + used;
}

/** Whether a bridge or cgroup is of this worker. */
export function isOwn(name: string): boolean {
  const prefix = prefixOf(runPid());
  const number = Number(name.slice(prefix.length));
  return name.startsWith(prefix) && number >= FIRST && number < FIRST + 100;
}
