import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { identityFiles } from '../../../agent/identity/store.ts';
import { AGENT_PKI } from '../../../agent/layout.ts';
import type { AgentAccess } from '../../../agent/main.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom, loadConnection } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { KUBENODE_VERSION } from '../../version.ts';
import { createDefinedCommand } from './options.ts';
import { type HostFlags, startAgent } from './start.ts';

const HELP = `
With --kubeconfig it uses the credentials in there and renews nothing.`;

interface RunFlags extends ConnectionFlags, HostFlags {
  readonly machine: string;
  readonly port: number;
  readonly bootstrap?: string;
  readonly healthyWithin: number;
}

export function createAgentRunCommand(io: Io): Command {
  const command = createDefinedCommand('run').addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (flags: RunFlags) => {
    const access = await accessFrom(io, flags);
    const { host, directory, machine, port, healthyWithin: healthySeconds } = flags;
    try {
      const place = { host, ...optional('directory', directory) };
      const own = { access, version: KUBENODE_VERSION, healthySeconds };
      await startAgent(io, { ...place, machine, port, ...own });
    } finally {
      if ('client' in access) await access.client.close();
    }
  });
}

/** Its own certificate, unless a kubeconfig is named; a host that never joined uses the kubeconfig that every command finds. */
async function accessFrom(io: Io, flags: RunFlags): Promise<AgentAccess> {
  const { bootstrap } = flags;
  if (bootstrap !== undefined && namesKubeconfig(flags)) {
    throw new CliError('--bootstrap excludes --kubeconfig and --context', {
      hint: 'the bootstrap file names the cluster; with --kubeconfig the agent gets no certificate of its own',
      exitCode: EXIT.usage,
    });
  }
  if (bootstrap !== undefined) return { own: { bootstrapFile: resolve(bootstrap) } };
  if (usesOwnCertificate(flags)) return { own: {} };
  return await accessByKubeconfig(io, flags);
}

async function accessByKubeconfig(io: Io, flags: RunFlags): Promise<AgentAccess> {
  const client = await connectFrom(io, flags);
  if (!namesKubeconfig(flags)) {
    io.err(
      `${client.server}: the agent uses the kubeconfig of this user, because it did not join with --bootstrap\n`,
    );
  }
  const { credentials } = await loadConnection(io, flags);
  const { tls } = await credentials.current();
  return { client, ...(tls.ca === undefined ? {} : { ca: tls.ca }) };
}

function usesOwnCertificate(flags: RunFlags): boolean {
  const { directory = '/' } = flags;
  return !namesKubeconfig(flags) && existsSync(join(directory, identityFiles(AGENT_PKI).certificate));
}

function namesKubeconfig({ kubeconfig, context }: RunFlags): boolean {
  return kubeconfig !== undefined || context !== undefined;
}
