/** Starts one process and waits until it is ready. Stops the process if anything fails. */
import type { Clock } from '../../os/clock.ts';
import { type Command, startProcess, stopProcess } from '../../os/process/child.ts';
import type { ProcessIdentity } from '../../os/process/identity.ts';
import { type ProbeEndpoint, waitUntilReady } from './probe.ts';

export interface LaunchOptions {
  readonly command: Command;
  readonly logFile: string;
  readonly endpoint: ProbeEndpoint;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before the wait, so that the caller can record the process first. */
  readonly onStarted?: (identity: ProcessIdentity) => Promise<void>;
}

export async function launchProcess(options: LaunchOptions): Promise<ProcessIdentity> {
  const identity = await startProcess(options.command, options.logFile);
  try {
    await options.onStarted?.(identity);
    await waitUntilReady({ ...options, identity });
    return identity;
  } catch (error) {
    await stopProcess(identity, options.clock);
    throw error;
  }
}
