/** The entry point: runs the command line of this process and sets its exit code. */
import { createSystemClock } from '../os/system-clock.ts';
import { createProcessIo, OutputClosed } from './io.ts';
import { runCommandLine } from './run.ts';

/**
 * Two signals so close are one decision: an impatient Ctrl-C, or one that the terminal sends and a program in between passes on.
 * Ending at once would leave behind what a clean shutdown stops.
 */
const ONE_DECISION_MS = 1000;

const clock = createSystemClock();
const interrupted = new AbortController();
let interruptedAt: number | undefined;
// SIGHUP: the terminal was closed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = clock.monotonicMs();
    interruptedAt ??= now;
    // The first signal requests a clean shutdown; a later one ends the process at once.
    if (now - interruptedAt > ONE_DECISION_MS) process.exit(130);
    interrupted.abort(new Error(`stopped by ${signal}`));
  });
}
// A closed pipe (`| head`) is not an error, but the rest of the output has no reader: a clean shutdown as well. EIO: of a terminal that was closed.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    const isClosed = error.code === 'EPIPE' || error.code === 'EIO' || interrupted.signal.aborted;
    if (!isClosed) throw error;
    interrupted.abort(new OutputClosed());
  });
}

process.exitCode = await runCommandLine(createProcessIo(interrupted.signal), process.argv.slice(2));
