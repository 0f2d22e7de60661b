/** CPU time of processes, as Linux counts it. Elsewhere /proc is missing, and the functions return 0. */
import { fieldsOf } from '../processes.ts';

/** USER_HZ, the unit of /proc/<pid>/stat: 100 on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Positions in `fieldsOf`. */
const FIELD = { ppid: 1, user: 11, system: 12, endedChildrenUser: 13, endedChildrenSystem: 14 } as const;

/** Returns the CPU seconds of a process that runs, and 0 for one that has ended. */
export function cpuSecondsOf(pid: number): number {
  const fields = fieldsOf(pid);
  return secondsIn(fields, FIELD.user, FIELD.system);
}

/** Returns the CPU seconds of the children of this process that have ended, with the children that those waited for. */
export function cpuSecondsOfEndedChildren(): number {
  return secondsIn(fieldsOf(process.pid), FIELD.endedChildrenUser, FIELD.endedChildrenSystem);
}

/** Returns 0 for a process that has ended. */
export function parentOf(pid: number): number {
  return Number(fieldsOf(pid)[FIELD.ppid] ?? 0);
}

function secondsIn(fields: readonly string[], ...positions: readonly number[]): number {
  return positions.reduce((sum, position) => sum + Number(fields[position] ?? 0), 0) / TICKS_PER_SECOND;
}
