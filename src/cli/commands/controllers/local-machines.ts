/** The provider local of `kubenode controllers`: only where it is asked for. */

import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { sandboxFolders } from '../../../agent/host/sandbox/folders.ts';
import { createBootstrapToken } from '../../../controllers/bootstraptoken/execute.ts';
import type { Bootstrap, InstanceParts } from '../../../controllers/machine/instance/calls.ts';
import { type LoadedConfig, loadConfig } from '../../../kube/auth/config.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { ConnectOptions } from '../../../kube/client/connect.ts';
import { stateFolder } from '../../../local/folders.ts';
import type { Clock } from '../../../os/clock.ts';
import type { AgentPrograms } from '../../../providers/local/agents.ts';
import { openLocalProvider } from '../../../providers/local/provider.ts';
import { readClusterUID } from '../../../sync/cluster-uid.ts';
import type { Io } from '../../io.ts';
import { formatBootstrapConfig } from '../../local/bootstrap-config.ts';
import { machinesFolder } from '../../local/machines-folder.ts';
import { OWN_PROGRAM } from '../../own-program.ts';
import { followServer } from './moved-server.ts';

export interface LocalMachinesFlags {
  /** Name of the local cluster. */
  readonly localMachines?: string;
  readonly localDir?: string;
  readonly localAgent?: string;
}

/** `src/cli/commands/controllers` in a checkout and `dist/cli/commands/controllers` in the package have the same depth. */
const BUNDLE = new URL('../../../../dist/bundles/agent.mjs', import.meta.url);

export function addLocalMachinesOptions(command: Command): Command {
  return command
    .option(
      '--local-machines <cluster>',
      'create machines of provider local on this machine, for this local cluster',
    )
    .option('--local-dir <folder>', 'folder of the local clusters (default: that of kubenode local up)')
    .option(
      '--local-agent <file>',
      'program of the agents of sandboxes (default: the bundle of the agent, else kubenode itself)',
    );
}

/** Opens the provider with a client of kubenode-machine; nothing without the flag. */
export function localInstancesOpener(
  io: Io,
  flags: LocalMachinesFlags,
  connection: ConnectOptions,
): (client: Client) => Promise<InstanceParts | undefined> {
  return async (client) => {
    const { localMachines: cluster } = flags;
    return cluster === undefined
      ? undefined
      : await openInstances(io, { ...flags, cluster }, { client, connection });
  };
}

async function openInstances(
  io: Io,
  { cluster, localDir, localAgent }: LocalMachinesFlags & { readonly cluster: string },
  { client, connection }: { readonly client: Client; readonly connection: ConnectOptions },
): Promise<InstanceParts> {
  const { clock, signal } = io;
  const dir = resolve(localDir ?? stateFolder(io.env));
  const programs = agentPrograms({ cluster, dir, agent: agentProgram(localAgent) });
  const machines = machinesFolder(dir, cluster);
  const { connection: agentConnection } = await loadConfig({ ...connection, clock });
  await followServer(machines, agentConnection.server, clock);
  return {
    providers: { local: await openLocalProvider({ machines, programs, clock }) },
    clusterUid: await readClusterUID(client, signal),
    createBootstrap: (machine) => createBootstrap(machine, { client, connection: agentConnection, clock }),
  };
}

/** The bundle takes half of the memory. */
function agentProgram(named: string | undefined): string {
  if (named !== undefined) return resolve(named);
  return existsSync(BUNDLE) ? fileURLToPath(BUNDLE) : OWN_PROGRAM;
}

export function agentPrograms({
  cluster,
  dir,
  agent,
}: {
  readonly cluster: string;
  readonly dir: string;
  readonly agent: string;
}): AgentPrograms {
  const { execPath: program, execArgv } = process;
  return {
    agent({ machine, hostFolder, bootstrapFile }) {
      const host = ['--machine', machine, '--host', 'sandbox', '--directory', hostFolder];
      return { program, args: [...execArgv, agent, 'agent', 'run', ...host, '--bootstrap', bootstrapFile] };
    },
    simulator(machines) {
      const own = ['--instances', machines, '--cluster', cluster, '--dir', dir];
      return { program, args: [...execArgv, OWN_PROGRAM, 'agent', 'simulate', ...own] };
    },
    bootFile: (hostFolder) => sandboxFolders(hostFolder).bootFile,
  };
}

interface BootstrapParts {
  readonly client: Client;
  readonly connection: LoadedConfig['connection'];
  readonly clock: Clock;
}

async function createBootstrap(
  machine: string,
  { client, connection, clock }: BootstrapParts,
): Promise<Bootstrap> {
  const { tls } = await connection.credentials.current();
  const options = { client, machine, now: clock.now(), randomInt: (below: number) => randomInt(below) };
  const { token, expiresAt } = await createBootstrapToken(options);
  const text = formatBootstrapConfig({ server: connection.server, ca: tls.ca, token });
  return { text, expiresAt: new Date(expiresAt) };
}
