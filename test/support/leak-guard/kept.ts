/** Processes that a file starts for the whole run, which ends them. The file does not leak them. */
const pids = new Set<number>();

export function keepForRun(pid: number): void {
  pids.add(pid);
}

export function isKeptForRun(pid: number): boolean {
  return pids.has(pid);
}
