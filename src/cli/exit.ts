/** Exit codes other than 0 that are not errors: `plan` found changes. */
import type { ExitCode } from './errors.ts';
import type { Io } from './io.ts';

const exitCodes = new WeakMap<Io, ExitCode>();

export function setExitCode(io: Io, exitCode: ExitCode): void {
  exitCodes.set(io, exitCode);
}

export function exitCodeOf(io: Io): ExitCode | undefined {
  return exitCodes.get(io);
}
