/** Opens what imports hosts over SSH, by the flags of `kubenode controllers`. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { ImportParts } from '../../../controllers/machine/import/execute/steps.ts';
import { loadConfig } from '../../../kube/auth/config.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { ConnectOptions } from '../../../kube/client/connect.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { OsError } from '../../../os/errors.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { parseHostServer } from '../../option-parsers.ts';

export interface HostImportFlags {
  readonly agentPrograms?: string;
  readonly serverForHosts?: string;
}

/** `src/cli/commands/controllers` in a checkout and `dist/cli/commands/controllers` in the package have the same depth. */
const BUILT = new URL('../../../../dist/agent/', import.meta.url);
/** The list of the programs, one for each architecture. */
const PROGRAM_LIST = 'programs.json';

export function addHostImportOptions(command: Command): Command {
  return command
    .option(
      '--agent-programs <folder>',
      'programs of the agent for hosts that are imported over SSH (default: those of npm run build:agent, if they are there)',
    )
    .option(
      '--server-for-hosts <url>',
      'API server as imported hosts reach it (default: that of the connection)',
      parseHostServer,
    );
}

/** Returns the folder of the programs; undefined: there are none, and no host is imported. */
export function programsFolder(
  { agentPrograms }: HostImportFlags,
  built = fileURLToPath(BUILT),
): string | undefined {
  const folder = agentPrograms === undefined ? built : resolve(agentPrograms);
  if (existsSync(join(folder, PROGRAM_LIST))) return folder;
  if (agentPrograms === undefined) return undefined;
  throw new CliError(`no programs of the agent in ${folder}: ${PROGRAM_LIST} is missing`, {
    hint: 'make them with `npm run build:agent`, and pass the folder dist/agent to --agent-programs',
    exitCode: EXIT.badInput,
  });
}

/** The SSH client is loaded only by a process that imports hosts. */
export function importsOpener(
  { clock }: Io,
  flags: HostImportFlags,
  connection: ConnectOptions,
): (client: Client) => Promise<ImportParts | undefined> {
  const programs = programsFolder(flags);
  return async (client) => {
    if (programs === undefined) return undefined;
    const { openImportHosts } = await import('../../../providers/ssh/import/open.ts');
    return {
      hosts: openImportHosts({ programs, clock }),
      client,
      clock,
      access: () => readAccess(flags, connection, clock),
    };
  };
}

/** Read again for each host: the CA of the connection may change. */
async function readAccess(
  { serverForHosts }: HostImportFlags,
  options: ConnectOptions,
  clock: Io['clock'],
): Promise<Awaited<ReturnType<ImportParts['access']>>> {
  const { connection } = await loadConfig({ ...options, clock });
  const { tls } = await connection.credentials.current();
  return { server: serverForHosts ?? requireTls(connection.server), ...optional('ca', tls.ca) };
}

/** Only https:// shows an agent that it talks to its cluster, and the cluster which agent it is. */
export function requireTls(server: string): string {
  if (URL.parse(server)?.protocol === 'https:') return server;
  throw new OsError<'ServerWithoutTLS'>(
    'ServerWithoutTLS',
    `agents cannot use the API server ${server}: they connect by https:// only`,
    { hint: 'start the controllers with --server-for-hosts https://HOST:PORT, or with another kubeconfig' },
  );
}
