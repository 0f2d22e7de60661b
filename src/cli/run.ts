/** Runs one command line and returns the exit code. */
import { CommanderError } from 'commander';
import { isKubeError } from '../kube/client/errors.ts';
import { printableText } from '../kube/objects/printable.ts';
import { describeError, EXIT, type ExitCode } from './errors.ts';
import { exitCodeOf } from './exit.ts';
import { type Io, OutputClosed } from './io.ts';
import { createProgram } from './program.ts';
import { withRunnableHints } from './runnable.ts';

export async function runCommandLine(bare: Io, args: readonly string[]): Promise<ExitCode> {
  const io = withRunnableHints(bare);
  try {
    const program = await createProgram(io, args);
    await program.parseAsync([...args], { from: 'user' });
    return exitCodeOf(io) ?? EXIT.ok;
  } catch (error) {
    if (io.signal.reason instanceof OutputClosed) return EXIT.ok;
    // Commander has already printed its own message or the requested help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { text, exitCode } = describeError(error, await unreachableHintFor(io, error));
    io.err(`${printableText(text)}\n`);
    return io.signal.aborted ? EXIT.interrupted : exitCode;
  }
}

/** Loads the modules of a client only for a command that has them already. */
async function unreachableHintFor(io: Io, error: unknown): Promise<string | undefined> {
  if (!isKubeError(error, 'Unreachable')) return undefined;
  const { unreachableHint } = await import('./connection.ts');
  return unreachableHint(io);
}
