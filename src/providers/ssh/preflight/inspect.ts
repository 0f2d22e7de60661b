/** Reads what the preflight needs of one host: its keys, and its facts. Changes nothing on it. */
import type { HostKey } from '../../../api/generated/types.ts';
import type { Clock } from '../../../os/clock.ts';
import { connectSsh, type SshHost, scanHostKeys } from '../channel/connect.ts';
import type { SshConnection } from '../channel/connection.ts';
import type { Elevation } from '../channel/host-script.ts';
import { runScript } from '../channel/script.ts';
import { isSshError, SshError } from '../errors.ts';
import { formatTarget } from '../target.ts';
import type { ServerAddress } from './check.ts';
import { type PreflightFacts, parseFacts } from './facts.ts';
import { PREFLIGHT } from './script.ts';

export interface InspectOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly connectMs: number;
  readonly scriptMs: number;
  readonly server?: ServerAddress;
  /** How a user other than root becomes root. */
  readonly sudoPassword?: string;
  /** Called with the keys before anything is sent to the host that needs trust. */
  readonly onHostKeys?: (keys: readonly HostKey[]) => void;
}

export interface InspectedHost {
  /** The pinned keys, or all that the host has shown. */
  readonly hostKeys: readonly HostKey[];
  readonly facts: PreflightFacts;
  readonly started: Date;
  readonly ended: Date;
  readonly notRootReason?: string;
}

/** The facts are a few KiB; a host may have thousands of listening sockets. */
const MAX_BYTES = 256 * 1024;

export async function inspectHost(host: SshHost, options: InspectOptions): Promise<InspectedHost> {
  const hostKeys = host.hostKeys.type === 'Pinned' ? host.hostKeys.keys : await scanHostKeys(host, options);
  options.onHostKeys?.(hostKeys);
  // From here on the host must be the one that has shown these keys.
  const connection = await connectSsh({ ...host, hostKeys: { type: 'Pinned', keys: hostKeys } }, options);
  try {
    return await inspectConnected(connection, hostKeys, options);
  } finally {
    connection.close();
  }
}

/** Reads the facts over a connection that is open, and leaves it open. */
export async function inspectConnected(
  connection: SshConnection,
  hostKeys: readonly HostKey[],
  options: Omit<InspectOptions, 'connectMs' | 'onHostKeys'>,
): Promise<InspectedHost> {
  return { hostKeys, ...(await readFacts(connection, options)) };
}

type FactsRead = Omit<InspectedHost, 'hostKeys'>;
type ReadOptions = Parameters<typeof inspectConnected>[2];

/** Without root the rest of the facts is read all the same: the report shows all that is to do, not the first. */
async function readFacts(connection: SshConnection, options: ReadOptions): Promise<FactsRead> {
  try {
    return await runPreflight(connection, elevationFor(connection, options), options);
  } catch (error) {
    if (!isSshError(error, 'NoSudo', 'SudoPassword')) throw error;
    return { ...(await runPreflight(connection, { type: 'None' }, options)), notRootReason: error.message };
  }
}

/** Undefined password: sudo is expected to ask for none. */
export function elevationFor(
  { target }: Pick<SshConnection, 'target'>,
  { sudoPassword }: Pick<InspectOptions, 'sudoPassword'>,
): Elevation {
  if (target.user === 'root') return { type: 'None' };
  return sudoPassword === undefined ? { type: 'Sudo' } : { type: 'SudoPassword', password: sudoPassword };
}

async function runPreflight(
  connection: SshConnection,
  elevation: Elevation,
  { clock, signal, scriptMs, server }: ReadOptions,
): Promise<FactsRead> {
  const started = clock.now();
  const output = await runScript(connection, {
    script: PREFLIGHT,
    values: [server?.host ?? '', server ? String(server.port) : ''],
    elevation,
    timeoutMs: scriptMs,
    maxBytes: MAX_BYTES,
    clock,
    signal,
  });
  const ended = clock.now();
  const facts = parseFacts(output);
  if (facts) return { facts, started, ended };
  throw new SshError('ScriptFailed', 'the preflight failed: its output is not complete', {
    where: formatTarget(connection.target),
  });
}
