/** The entry of the program: process in, exit code out. */
import { processIo } from './io.ts';
import { run } from './run.ts';

const interrupted = new AbortController();
let asked = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    asked += 1;
    // The first one asks for a clean end; a person who asks twice does not want to wait for it.
    if (asked > 1) process.exit(130);
    interrupted.abort(new Error(`stopped by ${signal}`));
  });
}
// A reader that goes away, as `| head` does, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await run(processIo(interrupted.signal), process.argv.slice(2));
