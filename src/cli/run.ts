/** Runs one command line and returns the exit code. */
import { CommanderError } from 'commander';
import { printableText } from '../kube/objects/printable.ts';
import { describeError, EXIT, type ExitCode } from './errors.ts';
import { exitCodeOf } from './exit.ts';
import { makeRunnable } from './format/runnable.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';

export async function runCommandLine(io: Io, args: readonly string[]): Promise<ExitCode> {
  try {
    const program = await createProgram(io, args);
    await program.parseAsync([...args], { from: 'user' });
    return exitCodeOf(io) ?? EXIT.ok;
  } catch (error) {
    // Commander has already printed its own message or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { text, exitCode } = describeError(error);
    io.err(`${printableText(makeRunnable(text, io.env))}\n`);
    return io.signal.aborted ? EXIT.interrupted : exitCode;
  }
}
