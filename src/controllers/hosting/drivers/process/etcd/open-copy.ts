/** Starts a throw-away etcd on a data folder, on another port, and stops it again. */
import {
  createEtcdCommand,
  ETCD_HEALTH_PATH,
  LOOPBACK,
  type ProgramPath,
} from '../../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { findFreePort } from '../../../../../os/net/ports.ts';
import { withThrowAway } from './throw-away.ts';

export interface CopyParts {
  readonly path: ProgramPath;
  readonly clock: Clock;
  readonly pkiFolder: string;
  /** The certificates of a client of etcd. */
  readonly endpoint: ProbeEndpoint;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves to what the work found in the etcd, which ends with the work, and with this process. The folder is changed. */
export async function openCopy<T>(
  dataFolder: string,
  { path, clock, pkiFolder, endpoint, signal }: CopyParts,
  work: (endpoint: ProbeEndpoint) => Promise<T>,
): Promise<T> {
  const port = await findFreePort();
  const command = createEtcdCommand(path, {
    dataFolder,
    pkiFolder,
    port,
    durable: false,
    // The others of several members do not run on the copy.
    alone: true,
  });
  const url = `https://${LOOPBACK}:${port}`;
  const failure = 'etcd does not start from the copy';
  const ready = { ...endpoint, url: `${url}${ETCD_HEALTH_PATH}` };
  return await withThrowAway({ command, ready, clock, failure, signal }, () => work({ ...endpoint, url }));
}
