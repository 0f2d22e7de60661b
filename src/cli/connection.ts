/** Finds the API server of a command: the flags, the environment, the default files, then the local fleet. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { type LoadedConfig, loadConfig } from '../kube/auth/config.ts';
import type { Client } from '../kube/client/client.ts';
import { connect } from '../kube/client/connect.ts';
import type { CallReport } from '../kube/client/request.ts';
import { optional } from '../kube/objects/optional.ts';
import { stateFolder } from '../local/folders.ts';
import { findLocalKubeconfig, fleetFolderOf } from '../local/pki/kubeconfig.ts';
import { CliError, EXIT } from './errors.ts';
import type { Io } from './io.ts';

export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export function addConnectionOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'kubeconfig to use (default: $KUBECONFIG, ~/.kube/config, then the local fleet)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: its current context)');
}

export async function connectFrom(
  io: Io,
  flags: ConnectionFlags,
  onCall?: (report: CallReport) => void,
): Promise<Client> {
  const kubeconfig = findKubeconfig(io, flags);
  return connect({
    clock: io.clock,
    ...(kubeconfig ? { kubeconfig } : {}),
    ...(flags.context ? { context: flags.context } : {}),
    ...optional('onCall', onCall),
  });
}

/** Reads the connection of a command, for what needs its server, authority or credentials. */
export async function loadConnection(io: Io, flags: ConnectionFlags): Promise<LoadedConfig['connection']> {
  const loaded = await loadConfig({
    clock: io.clock,
    ...optional('kubeconfig', findKubeconfig(io, flags)),
    ...optional('context', flags.context),
  });
  return loaded.connection;
}

const kubeconfigs = new WeakMap<Io, string>();

/** Returns a hint for when the server of this command cannot be reached. Undefined unless it is a local cluster. */
export function unreachableHint(io: Io): string | undefined {
  const kubeconfig = kubeconfigs.get(io);
  const folder = kubeconfig === undefined ? undefined : fleetFolderOf(resolve(io.cwd, kubeconfig));
  if (folder === undefined) return undefined;
  const dirOption = folder === stateFolder(io.env) ? '' : ` --dir ${folder}`;
  return `start the local cluster with: kubenode local up${dirOption}`;
}

/** Finds the kubeconfig of the command. Undefined inside a pod: the client then uses its ServiceAccount. */
export function findKubeconfig(io: Io, flags: ConnectionFlags): string | undefined {
  const found = selectKubeconfig(io, flags);
  if (found !== undefined) kubeconfigs.set(io, found);
  return found;
}

function selectKubeconfig(io: Io, { kubeconfig }: ConnectionFlags): string | undefined {
  if (kubeconfig) return kubeconfig;
  const named = io.env['KUBECONFIG']?.split(':').find((path) => path !== '');
  if (named) return named;
  const defaultFile = join(io.env['HOME'] ?? '/', '.kube', 'config');
  if (existsSync(defaultFile)) return defaultFile;
  if (io.env['KUBERNETES_SERVICE_HOST']) return undefined;
  const local = findLocalKubeconfig(io.env);
  if (local) return local;
  throw new CliError('no kubeconfig found', {
    where: `--kubeconfig, $KUBECONFIG, ${defaultFile}, the local fleet`,
    hint: 'pass --kubeconfig FILE, or start a local cluster: kubenode local up',
    exitCode: EXIT.badInput,
  });
}
