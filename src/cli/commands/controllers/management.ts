/** The options that name the management cluster of Cluster API, and the connection to it. */
import type { Command } from 'commander';
import type {
  ForeignClusterName,
  ManagementCluster,
} from '../../../controllers/following/clusterapi/management.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { CliError, EXIT } from '../../errors.ts';
import { parseClusterName } from '../../option-parsers.ts';

export interface ManagementFlags {
  readonly clusterApi?: true;
  readonly clusterApiKubeconfig?: string;
  readonly clusterApiContext?: string;
  readonly clusterApiCluster?: ForeignClusterName;
}

export function addManagementOptions(command: Command): Command {
  return command
    .option(
      '--cluster-api-kubeconfig <file>',
      'with --cluster-api: kubeconfig of the management cluster, if it is another than this cluster',
    )
    .option('--cluster-api-context <name>', 'its context (default: its current context)')
    .option(
      '--cluster-api-cluster <namespace/name>',
      'the Cluster of Cluster API whose Nodes are in this cluster: others are left out',
      parseClusterName,
    );
}

interface ManagementSettings {
  /** Undefined: the objects are in the cluster of the Nodes. */
  readonly connection: Pick<ConnectOptions, 'kubeconfig' | 'context'> | undefined;
  readonly cluster: ForeignClusterName;
}

/** Undefined: the objects of Cluster API are in this cluster, and for no other. */
export function managementSettings(flags: ManagementFlags): ManagementSettings | undefined {
  const { clusterApi, clusterApiKubeconfig: kubeconfig, clusterApiCluster: cluster } = flags;
  const { clusterApiContext: context } = flags;
  if ([kubeconfig, cluster, context].every((each) => each === undefined)) return undefined;
  if (clusterApi && cluster !== undefined && (kubeconfig !== undefined || context === undefined)) {
    const connection = kubeconfig === undefined ? undefined : { kubeconfig, ...optional('context', context) };
    return { cluster, connection };
  }
  throw new CliError(
    'a management cluster needs --cluster-api, --cluster-api-kubeconfig and --cluster-api-cluster',
    {
      hint: 'pass all three; without --cluster-api-kubeconfig the objects of Cluster API are in this cluster. docs/guides/cluster-api.md has an example',
      exitCode: EXIT.usage,
    },
  );
}

/**
 * Sends no request: a management cluster that does not answer must not keep the other controllers from starting. It acts as the user of the
 * kubeconfig, who needs rights in one namespace only.
 */
export async function connectManagement(
  flags: ManagementFlags,
  { clock }: Required<Pick<ConnectOptions, 'clock'>>,
): Promise<ManagementCluster | undefined> {
  const settings = managementSettings(flags);
  if (!settings) return undefined;
  const { cluster, connection } = settings;
  return { cluster, ...optional('client', connection && (await connect({ ...connection, clock }))) };
}
