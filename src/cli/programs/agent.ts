/** The entry point of the bundle of the agent: `npm run bundle:agent` makes one file of it, without any npm package. */
import { createProcessIo } from '../io.ts';
import { runAgentProgram } from './agent-commands.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => interrupted.abort(new Error(`stopped by ${signal}`)));
}
// A closed pipe (`| head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runAgentProgram(createProcessIo(interrupted.signal), process.argv.slice(2));
