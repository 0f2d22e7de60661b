/** For an answer that is no error and yet does not end with 0: `plan` found changes. */
import type { ExitCode } from './errors.ts';
import type { Io } from './io.ts';

const exitCodes = new WeakMap<Io, ExitCode>();

export function endWith(io: Io, exitCode: ExitCode): void {
  exitCodes.set(io, exitCode);
}

export function exitCodeOf(io: Io): ExitCode | undefined {
  return exitCodes.get(io);
}
