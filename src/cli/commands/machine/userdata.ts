/** `kubenode machine userdata`: what a new host needs to become a Machine: for one host, or for a template of Cluster API. */
import { Command, Option } from 'commander';
import { formatKubeadmData, KUBEADM_KUBELET_CERTIFICATE } from '../../../providers/cloud/kubeadm-data.ts';
import { type AgentDownload, formatUserData } from '../../../providers/cloud/user-data.ts';
import { addConnectionOptions, loadConnection } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { formatBootstrapConfig } from '../../local/bootstrap-config.ts';
import { parseAgentSha256, parseAgentUrl, parseHostServer } from '../../option-parsers.ts';
import { createSecondsOption, makeBootstrapConfig, type TokenFlags } from './token.ts';

const HELP = `
For one Machine it makes a bootstrap token, as \`machine token\` does, and prints a #cloud-config document with it: the host downloads
the program of the agent, checks its SHA-256, installs it and joins. The document makes its holder the agent of this Machine until the
token is used: pass it to the host only.

  (umask 077; kubenode machine userdata n1 --agent-url https://…/kubenode-agent-linux-amd64.gz --agent-sha256 … > user-data)

With --kubeadm it prints fields for spec.template.spec of a KubeadmConfigTemplate of Cluster API. They are the same for each machine and
have no secret: the agent proves by the certificate of the kubelet which Node it is on, and joins the Machine that follows this Node.

  kubenode machine userdata --kubeadm --agent-url https://artifacts.example.com/kubenode-agent-linux-amd64.gz --agent-sha256 ${'0'.repeat(64)}`;

interface UserdataFlags extends TokenFlags {
  readonly agentUrl: string;
  readonly agentSha256: string;
  readonly kubeadm?: true;
  readonly server?: string;
}

export function createMachineUserdataCommand(io: Io): Command {
  const command = new Command('userdata')
    .description('print what a new host, or each host of a template, needs to join as a Machine')
    .argument('[machine]', 'name of the Machine; excludes --kubeadm')
    .requiredOption('--agent-url <url>', 'where the host downloads the program of the agent', parseAgentUrl)
    .requiredOption('--agent-sha256 <hex>', 'SHA-256 of what the URL serves', parseAgentSha256)
    .addOption(
      new Option('--kubeadm', 'for each machine of a KubeadmConfigTemplate of Cluster API').conflicts(
        'seconds',
      ),
    )
    .option(
      '--server <url>',
      'with --kubeadm: the API server as hosts reach it; default: as here',
      parseHostServer,
    )
    .addOption(createSecondsOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (machine: string | undefined, flags: UserdataFlags) => {
    requireOneHost(machine, flags);
    const agent = { url: flags.agentUrl, sha256: flags.agentSha256 };
    io.out(
      machine === undefined ? await kubeadmData(io, flags, agent) : await userData(io, machine, flags, agent),
    );
  });
}

function requireOneHost(machine: string | undefined, { kubeadm, server }: UserdataFlags): void {
  const reason =
    (machine === undefined) !== (kubeadm === true)
      ? 'expected the name of a Machine, or --kubeadm'
      : server !== undefined && kubeadm !== true && '--server is for --kubeadm only';
  if (reason) throw new CliError(reason, { exitCode: EXIT.usage });
}

async function userData(
  io: Io,
  machine: string,
  flags: UserdataFlags,
  agent: AgentDownload,
): Promise<string> {
  return formatUserData({ machine, bootstrap: await makeBootstrapConfig(io, machine, flags), agent });
}

/** Nothing is asked of the API server: where it is and its authority are in the kubeconfig. */
async function kubeadmData(io: Io, flags: UserdataFlags, agent: AgentDownload): Promise<string> {
  const { credentials, server: ownServer } = await loadConnection(io, flags);
  const { server = ownServer } = flags;
  if (!server.startsWith('https://')) {
    throw new CliError(`agents cannot use the API server ${server}: they connect by https:// only`, {
      hint: 'name it as hosts reach it: --server https://HOST:PORT',
      exitCode: EXIT.badInput,
    });
  }
  const { tls } = await credentials.current();
  const user = {
    'client-certificate': KUBEADM_KUBELET_CERTIFICATE,
    'client-key': KUBEADM_KUBELET_CERTIFICATE,
  };
  const bootstrap = formatBootstrapConfig({ server, ca: tls.ca, user });
  return formatKubeadmData({ bootstrap, agent });
}
