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

/** Returns a number that no other node or bridge of this process has. */
let last = process.pid % 1000;
export function nextNumber(): number {
  last = (last + 1) % 1000;
  return last;
}
