/** `kubenode cluster connect`: gives the hub a kubeconfig with which sync reaches a cluster, as kubenode-sync. */
import { Command } from 'commander';
import { MANAGER_CLI, NAMESPACE } from '../../../api/names.ts';
import { clusterNameReason } from '../../../api/validation/cluster-name.ts';
import type { Client } from '../../../kube/client/client.ts';
import { connect } from '../../../kube/client/connect.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { NAMESPACES, SECRETS } from '../../../kube/objects/core-kinds.ts';
import { messageOf } from '../../../os/errors.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { printWarnings } from '../../output.ts';
import { createAccessSecret, formatSyncKubeconfig, isLoopback, type SyncAccess } from './sync-kubeconfig.ts';
import { ensureSyncToken } from './sync-token.ts';

interface ConnectFlags extends ConnectionFlags {
  readonly hubContext?: string;
  readonly hubKubeconfig?: string;
  readonly server?: string;
}

const HELP = `
In the cluster it makes a token of the ServiceAccount kubenode-sync, as the Secret kubenode-sync-token. In the hub it writes the Secret
NAME-kubeconfig with that token, which Cluster NAME of the fleet repository names in spec.connection.credentialsRef. Both are in kubenode-system.
Without --hub-context and --hub-kubeconfig the cluster is its own hub. The token is tried before anything is written to the hub.

Delete the Secret in the cluster to withdraw the token. The command may be repeated: it renews what it wrote, and changes no Secret of others.

Examples:
  kubenode cluster connect prod-eu-1 --context prod-eu-1 --hub-context hub
  kubenode cluster connect prod --context prod --server https://10.0.0.7:6443`;

export function createClusterConnectCommand(io: Io): Command {
  const command = new Command('connect')
    .description('give the hub a kubeconfig with which sync reaches a cluster')
    .argument('<cluster>', 'name of the Cluster in the fleet repository')
    .option('--hub-context <name>', 'context of the hub (default: the cluster is its own hub)')
    .option('--hub-kubeconfig <file>', 'kubeconfig of the hub (default: that of the cluster)')
    .option('--server <url>', 'API server as sync reaches it (default: that of the kubeconfig)')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: ConnectFlags) => {
    checkName(name);
    const access = await withCluster(io, flags, async (client): Promise<SyncAccess> => {
      const server = serverOf(flags.server ?? client.server);
      const made = await ensureSyncToken({ client, clock: io.clock, signal: io.signal });
      return { cluster: name, server, ...made };
    });
    await tryAccess(io, access);
    await withCluster(io, hubFlags(flags), (hub) => writeToHub(io, hub, access));
  });
}

function checkName(name: string): void {
  const hint = clusterNameReason(name);
  if (hint === undefined) return;
  throw new CliError(`${JSON.stringify(name)} cannot be the name of a Cluster`, {
    hint,
    exitCode: EXIT.usage,
  });
}

function serverOf(text: string): string {
  if (URL.parse(text)?.protocol === 'https:') return text;
  throw new CliError('a token is sent only over https', {
    where: text,
    hint: 'name the API server with --server https://…',
    exitCode: EXIT.badInput,
  });
}

function hubFlags({ hubContext, hubKubeconfig, ...own }: ConnectFlags): ConnectionFlags {
  if (hubContext === undefined && hubKubeconfig === undefined) return own;
  const kubeconfig = hubKubeconfig ?? own.kubeconfig;
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(hubContext !== undefined && { context: hubContext }),
  };
}

/** As sync will, from this machine. */
async function tryAccess(io: Io, access: SyncAccess): Promise<void> {
  const client = await connect({ clock: io.clock, kubeconfigText: formatSyncKubeconfig(access) });
  try {
    await client.get(NAMESPACES, { name: NAMESPACE }, { signal: io.signal });
  } catch (error) {
    io.signal.throwIfAborted();
    throw new CliError(`the cluster cannot be reached as kubenode-sync: ${messageOf(error)}`, {
      where: access.server,
      hint: 'nothing was written to the hub. Name the address that its certificate is for with --server',
      exitCode: EXIT.unavailable,
      cause: error,
    });
  } finally {
    await client.close();
  }
}

async function writeToHub(io: Io, hub: Client, access: SyncAccess): Promise<void> {
  const secret = createAccessSecret(access);
  const where = `Secret ${NAMESPACE}/${secret.metadata.name} of the hub`;
  try {
    await hub.apply(SECRETS, secret, { fieldManager: MANAGER_CLI, force: false, signal: io.signal });
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
    throw new CliError('it was made by others, and is not overwritten', {
      where: `${where} at ${hub.server}`,
      hint: 'delete it, and run the command again',
      exitCode: EXIT.badInput,
    });
  }
  io.out(`${where} has access to ${access.server} as kubenode-sync\n`);
  io.err(`In the fleet repository, Cluster ${access.cluster} needs: connection: { credentialsRef: { name: '${secret.metadata.name}' } }
`);
  if (isLoopback(access.server)) {
    const reach = `${access.server} is an address of this machine: sync reaches it only from here. Name another one with --server`;
    printWarnings(io, [reach]);
  }
}
