/** `kubenode machine userdata`: cloud-init user data with which a new host becomes one Machine. */
import { Command } from 'commander';
import { formatUserData } from '../../../providers/cloud/user-data.ts';
import { addConnectionOptions } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { parseAgentSha256, parseAgentUrl } from '../../option-parsers.ts';
import { createSecondsOption, makeBootstrapConfig, type TokenFlags } from './token.ts';

const HELP = `
Makes a bootstrap token, as \`machine token\` does, and prints a #cloud-config document with it: the host downloads the program of the
agent, checks its SHA-256, installs it and joins. The document makes its holder the agent of this Machine until the token is used: pass it
to the host only.

  (umask 077; kubenode machine userdata n1 --agent-url https://…/kubenode-agent-linux-amd64.gz --agent-sha256 … > user-data)`;

interface UserdataFlags extends TokenFlags {
  readonly agentUrl: string;
  readonly agentSha256: string;
}

export function createMachineUserdataCommand(io: Io): Command {
  const command = new Command('userdata')
    .description('print cloud-init user data with which a new host joins as a Machine')
    .argument('<machine>', 'name of the Machine')
    .requiredOption('--agent-url <url>', 'where the host downloads the program of the agent', parseAgentUrl)
    .requiredOption('--agent-sha256 <hex>', 'SHA-256 of what the URL serves', parseAgentSha256)
    .addOption(createSecondsOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (machine: string, flags: UserdataFlags) => {
    const bootstrap = await makeBootstrapConfig(io, machine, flags);
    const { agentUrl, agentSha256 } = flags;
    io.out(formatUserData({ machine, bootstrap, agent: { url: agentUrl, sha256: agentSha256 } }));
  });
}
