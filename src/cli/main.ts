/** The entry point: runs the command line of this process and sets its exit code. */
import { createProcessIo } from './io.ts';
import { runCommandLine } from './run.ts';

const interrupted = new AbortController();
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    signals += 1;
    // The first signal requests a clean shutdown; a second one ends the process at once.
    if (signals > 1) process.exit(130);
    interrupted.abort(new Error(`stopped by ${signal}`));
  });
}
// A closed pipe (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runCommandLine(createProcessIo(interrupted.signal), process.argv.slice(2));
