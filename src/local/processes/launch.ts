/** Starts one process and stays until it answers. Whatever goes wrong on the way, the process does not stay behind. */
import type { Clock } from '../../os/clock.ts';
import { type Command, startProcess, stopProcess } from '../../os/process.ts';
import type { ProcessIdentity } from '../../os/process-identity.ts';
import { type Endpoint, waitUntilReady } from './probe.ts';

export interface Launch {
  readonly command: Command;
  readonly logFile: string;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before the wait, so that a caller that dies while it waits has left a note of what it started. */
  readonly started?: (identity: ProcessIdentity) => Promise<void>;
}

export async function launch(what: Launch): Promise<ProcessIdentity> {
  const identity = await startProcess(what.command, what.logFile);
  try {
    await what.started?.(identity);
    await waitUntilReady({ ...what, identity });
    return identity;
  } catch (error) {
    await stopProcess(identity, what.clock);
    throw error;
  }
}
