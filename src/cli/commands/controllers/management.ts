/** The options that name the management cluster of Cluster API, and the connection to it. */
import type { Command } from 'commander';
import { NAMESPACE, PRINCIPAL_CLUSTERAPI } from '../../../api/names.ts';
import type {
  ForeignClusterName,
  ManagementCluster,
} from '../../../controllers/following/clusterapi/management.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { impersonateServiceAccount } from '../../../kube/controller/principals.ts';
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
      'the Cluster there whose Nodes are in this cluster',
      parseClusterName,
    );
}

interface ManagementSettings {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly cluster: ForeignClusterName;
}

/** Undefined: the objects of Cluster API are in this cluster. */
export function managementSettings(flags: ManagementFlags): ManagementSettings | undefined {
  const { clusterApi, clusterApiKubeconfig: kubeconfig, clusterApiCluster: cluster } = flags;
  const { clusterApiContext: context } = flags;
  if ([kubeconfig, cluster, context].every((each) => each === undefined)) return undefined;
  if (clusterApi && kubeconfig !== undefined && cluster !== undefined) {
    return { kubeconfig, cluster, ...optional('context', context) };
  }
  throw new CliError(
    'a management cluster needs --cluster-api, --cluster-api-kubeconfig and --cluster-api-cluster',
    {
      hint: 'pass all three, or only --cluster-api where the objects of Cluster API are in this cluster; docs/guides/cluster-api.md has an example',
      exitCode: EXIT.usage,
    },
  );
}

/** Sends no request: a management cluster that does not answer must not keep the other controllers from starting. */
export async function connectManagement(
  flags: ManagementFlags,
  { clock, onCall }: Pick<ConnectOptions, 'clock' | 'onCall'>,
): Promise<ManagementCluster | undefined> {
  const settings = managementSettings(flags);
  if (!settings) return undefined;
  const { cluster, ...connection } = settings;
  const impersonate = impersonateServiceAccount({ namespace: NAMESPACE, name: PRINCIPAL_CLUSTERAPI });
  return {
    cluster,
    client: await connect({
      ...connection,
      impersonate,
      ...optional('clock', clock),
      ...optional('onCall', onCall),
    }),
  };
}
