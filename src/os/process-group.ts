/** Ends a child process together with every process that it started. */
import type { ChildProcess } from 'node:child_process';
import { systemCode } from './errors.ts';

/** The child must have been spawned with `detached`, which gives it a process group of its own. */
export function killProcessGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
