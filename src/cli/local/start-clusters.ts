import { type LocalFleet, startLocalFleet } from '../../local/fleet.ts';
import type { Io } from '../io.ts';
import type { OutputFormat } from '../output.ts';
import type { StepProgress } from '../progress.ts';
import { installIntoFleet } from './install-into-fleet.ts';

export interface UpFlags {
  /** Whether `kubenode start` runs, which stops the fleet at its end. */
  readonly claims?: boolean;
  readonly clusters?: number;
  readonly dir: string;
  readonly install: boolean;
  readonly controllers?: boolean;
  readonly bindAddress?: string;
  readonly serverName?: readonly string[];
  readonly port?: number;
  readonly timeout?: number;
  readonly kubeAssets?: string;
  readonly output: OutputFormat;
}

/** Starts a local fleet and installs kubenode into it; used by `local up` and `start`. */
export async function startLocalClusters(
  io: Io,
  flags: UpFlags,
  progress: StepProgress,
): Promise<LocalFleet> {
  const options = {
    dir: flags.dir,
    env: io.env,
    clock: io.clock,
    signal: io.signal,
    onStep: (step: string) => progress.step(step),
    warn: (text: string) => io.err(`${text}\n`),
    clusters: flags.clusters,
    controllers: flags.controllers,
    bindAddress: flags.bindAddress,
    names: flags.serverName,
    firstPort: flags.port,
    assets: flags.kubeAssets,
    claims: flags.claims,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  };
  return await startLocalFleet(options, async (fleet) => {
    if (flags.install) await installIntoFleet(io, fleet, progress);
    return fleet;
  });
}
