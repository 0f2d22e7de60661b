/** Starts the agent with the options of a command line. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createJsonLog } from '../../../agent/log.ts';
import { type AgentAccess, runAgent } from '../../../agent/main.ts';
import { watchUpgrade } from '../../../agent/upgrade/main.ts';
import { OBJECT_NAME } from '../../../api/patterns.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';

import { describeOwnProcess } from './own-process.ts';

export interface StartOptions extends HostFlags {
  readonly machine: string;
  readonly port: number;
  readonly access: AgentAccess;
  readonly version: string;
  /** Within which a new version of the agent must have proved that it is healthy. */
  readonly healthySeconds: number;
}

export interface HostFlags {
  /** sandbox or systemd. */
  readonly host: string;
  readonly directory?: string;
}

export async function startAgent(
  io: Io,
  { host, directory, healthySeconds, ...options }: StartOptions,
): Promise<void> {
  const nameReason = machineNameReason(options.machine);
  if (nameReason !== undefined) throw new CliError(nameReason, { exitCode: EXIT.usage });
  requireHost({ host, ...optional('directory', directory) });
  await requireDirectory(directory);
  const all = {
    ...options,
    ...optional('directory', directory === undefined ? undefined : resolve(directory)),
    self: await describeOwnProcess({ host, access: options.access, healthySeconds }),
    clock: io.clock,
    log: createJsonLog({ write: (line) => io.out(line), clock: io.clock }),
    random: systemRandom,
    onListening: (url: string) => io.err(`health and metrics: ${url}\n`),
  };
  await runAgent(all, io.signal);
}

/** Such as a file of that name. */
async function requireDirectory(directory: string | undefined): Promise<void> {
  const found = directory === undefined ? undefined : await stat(directory).catch(() => undefined);
  if (!found || found.isDirectory()) return;
  throw new CliError(`--directory: ${directory} is not a directory`, { exitCode: EXIT.badInput });
}

/** Before a token is used up: a request in a name that no Machine can have is denied. */
export function machineNameReason(machine: string): string | undefined {
  if (new RegExp(OBJECT_NAME.regex).test(machine)) return undefined;
  return `--machine: expected ${OBJECT_NAME.description}, got ${JSON.stringify(machine)}`;
}

export async function startWatchdog(io: Io, { host, directory }: HostFlags): Promise<void> {
  requireHost({ host, ...optional('directory', directory) });
  const log = createJsonLog({ write: (line) => io.out(line), clock: io.clock });
  const place = optional('directory', directory === undefined ? undefined : resolve(directory));
  await watchUpgrade({ ...place, clock: io.clock, log }, io.signal);
}

function requireHost(flags: HostFlags): void {
  const reason = hostFlagsReason(flags);
  if (reason !== undefined) throw new CliError(reason, { exitCode: EXIT.usage });
  if (flags.host === 'systemd' && process.getuid?.() !== 0) {
    const hint = 'run it as root, or use --host sandbox --directory <folder>';
    throw new CliError('--host systemd needs root', { hint, exitCode: EXIT.denied });
  }
}

/** Why host and directory do not go together. */
export function hostFlagsReason({ host, directory }: HostFlags): string | undefined {
  if (host === 'sandbox' && directory === undefined) return '--host sandbox needs --directory <folder>';
  if (host === 'sandbox' || directory === undefined) return undefined;
  return '--directory is for --host sandbox: systemd has one root directory';
}
