/** Starts the agent with the options of a command line. */

import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { sandboxFolders } from '../../../agent/host/sandbox/folders.ts';
import { createJsonLog } from '../../../agent/log.ts';
import { type AgentAccess, runAgent } from '../../../agent/main.ts';
import { watchUpgrade } from '../../../agent/upgrade/main.ts';
import { OBJECT_NAME } from '../../../api/patterns.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { messageOf, systemCode } from '../../../os/errors.ts';
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

/** Not a file of that name, and not in a file system without room for it, such as /proc. */
async function requireDirectory(directory: string | undefined): Promise<void> {
  if (directory === undefined) return;
  const found = await stat(directory).catch(() => undefined);
  if (found && !found.isDirectory()) {
    throw new CliError(`--directory: ${directory} is not a directory`, { exitCode: EXIT.badInput });
  }
  try {
    await makeDirectory(dirname(sandboxFolders(resolve(directory)).bootFile));
  } catch (cause) {
    throw new CliError(`--directory: no file can be created in ${directory}: ${messageOf(cause)}`, {
      hint: 'pass a directory that this user may write to',
      exitCode: EXIT.badInput,
      cause,
    });
  }
}

/** One level at a time: `recursive` of Node.js never returns where a new directory is refused with ENOENT. */
async function makeDirectory(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  await makeDirectory(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
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

export function requireHost(flags: HostFlags): void {
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
