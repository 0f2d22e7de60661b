/** Starts the agent with the options of a command line. */
import { resolve } from 'node:path';
import { createJsonLog } from '../../../agent/log.ts';
import { type AgentAccess, runAgent } from '../../../agent/main.ts';
import { systemRandom } from '../../../os/system-random.ts';
import type { Io } from '../../io.ts';

export interface StartOptions {
  readonly directory: string;
  readonly machine: string;
  readonly port: number;
  readonly access: AgentAccess;
  readonly version: string;
}

export async function startAgent(io: Io, options: StartOptions): Promise<void> {
  const all = {
    ...options,
    directory: resolve(options.directory),
    clock: io.clock,
    log: createJsonLog({ write: (line) => io.out(line), clock: io.clock }),
    random: systemRandom,
    onListening: (url: string) => io.err(`health and metrics: ${url}\n`),
  };
  await runAgent(all, io.signal);
}
