/** The entry point of `npm run grant`. */
import { createProcessIo } from '../../../src/cli/io.ts';
import { runGrantCommand } from './command.ts';

process.exitCode = await runGrantCommand(
  createProcessIo(new AbortController().signal),
  process.argv.slice(2),
);
