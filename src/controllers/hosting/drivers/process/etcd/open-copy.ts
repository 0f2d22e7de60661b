/** Starts a throw-away etcd on a data folder, on another port, and stops it again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createEtcdCommand, LOOPBACK, type ProgramPath } from '../../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import { isEndpointReady } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { findFreePort } from '../../../../../os/net/ports.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { childEnvironment } from '../../../../../os/process/child.ts';
import { endWithParent } from '../../../../../os/worker/child-prefix.ts';

export interface CopyParts {
  readonly path: ProgramPath;
  readonly clock: Clock;
  readonly pkiFolder: string;
  /** The certificates of a client of etcd. */
  readonly endpoint: ProbeEndpoint;
}

/** A large database is read into memory at the start. */
const OPEN_MS = 120_000;
const POLL_MS = 100;
const MAX_OUTPUT = 600;

/** Resolves to what the work found in the etcd, which ends with the work, and with this process. The folder is changed. */
export async function openCopy<T>(
  dataFolder: string,
  { path, clock, pkiFolder, endpoint }: CopyParts,
  work: (endpoint: ProbeEndpoint) => Promise<T>,
): Promise<T> {
  const port = await findFreePort();
  const { program, args } = createEtcdCommand(path, {
    dataFolder,
    pkiFolder,
    port,
    durable: false,
    // The others of several members do not run on the copy.
    alone: true,
  });
  const [first = program, ...rest] = [...endWithParent(), program, ...args];
  const child = spawn(first, rest, { stdio: ['ignore', 'ignore', 'pipe'], env: childEnvironment() });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-MAX_OUTPUT);
  });
  const ended = once(child, 'close').catch((error: unknown) => {
    output = String(error);
  });
  const url = `https://${LOOPBACK}:${port}`;
  try {
    const ready = async (): Promise<boolean> =>
      hasEnded(child) || (await isEndpointReady({ ...endpoint, url: `${url}/health` }));
    await pollUntil(ready, { clock, everyMs: POLL_MS, deadlineMs: clock.monotonicMs() + OPEN_MS });
    if (hasEnded(child)) throw new Error(`etcd does not start from the copy: ${output.trim()}`);
    return await work({ ...endpoint, url });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}
