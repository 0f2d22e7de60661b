/** Reads the options of `kubenode controllers` for provider local. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { sandboxFolders } from '../../../agent/host/sandbox/folders.ts';
import { stateFolder } from '../../../local/folders.ts';
import type { AgentPrograms } from '../../../providers/local/agents.ts';
import type { LocalProviderOptions } from '../../../providers/local/provider.ts';
import type { Io } from '../../io.ts';
import { machinesFolder } from '../../local/machines-folder.ts';
import { OWN_PROGRAM, ownProgramEnv } from '../../own-program.ts';
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

/** Reads the options of the provider. Resolves to none without the flag. */
export async function readLocalOptions(
  { env, clock }: Io,
  { localMachines: name, localDir, localAgent }: LocalMachinesFlags,
  server: () => Promise<string>,
): Promise<LocalProviderOptions | undefined> {
  if (name === undefined) return undefined;
  const dir = resolve(localDir ?? stateFolder(env));
  const programs = agentPrograms({ cluster: name, dir, agent: agentProgram(localAgent) });
  const machines = machinesFolder(dir, name);
  await followServer(machines, await server(), clock);
  return { machines, programs, clock };
}

/** The bundle takes half of the memory. */
function agentProgram(named: string | undefined): string {
  if (named !== undefined) return resolve(named);
  return existsSync(BUNDLE) ? fileURLToPath(BUNDLE) : OWN_PROGRAM;
}

function agentPrograms({
  cluster,
  dir,
  agent,
}: {
  readonly cluster: string;
  readonly dir: string;
  readonly agent: string;
}): AgentPrograms {
  const { execPath: program, execArgv } = process;
  const env = ownProgramEnv(process.env);
  return {
    agent({ machine, hostFolder, bootstrapFile }) {
      const host = ['--machine', machine, '--host', 'sandbox', '--directory', hostFolder];
      const args = [...execArgv, agent, 'agent', 'run', ...host, '--bootstrap', bootstrapFile];
      return { program, args, env };
    },
    simulator(machines) {
      const own = ['--instances', machines, '--cluster', cluster, '--dir', dir];
      return { program, args: [...execArgv, OWN_PROGRAM, 'agent', 'simulate', ...own], env };
    },
    bootFile: (hostFolder) => sandboxFolders(hostFolder).bootFile,
  };
}
