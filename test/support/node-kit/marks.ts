/**
 * Names that say whose a thing is: the process id of the run is in the name of each bridge, cgroup and machine. So a
 * run that was killed needs no note for the next one to tidy up behind it.
 */
import { isAlive, RUN_MARK } from '../leak-guard/leaks.ts';

/** The main process of vitest, which outlives the workers; a program without vitest is its own. */
export function runPid(): number {
  return Number((process.env[RUN_MARK] ?? String(process.pid)).split('-')[0]);
}

/** `kn<pid in base 36>x<n>`: at most 15 characters, as the kernel wants it for an interface. */
export function nameOf(number: number): string {
  return `${prefixOf(runPid())}${number}`;
}

export function prefixOf(pid: number): string {
  return `kn${pid.toString(36)}x`;
}

/** Of a run that ended without tidying up. */
export function isStale(name: string): boolean {
  const pid = /^kn(?<pid>[0-9a-z]+)x\d+$/.exec(name)?.groups?.['pid'];
  return pid !== undefined && !isAlive(Number.parseInt(pid, 36));
}

/** Numbers that no other node or bridge of this process has. */
let last = process.pid % 1000;
export function nextNumber(): number {
  last = (last + 1) % 1000;
  return last;
}
