/** The options of `kubenode install` for objects of Cluster API in a management cluster: a Secret with the connection, and the Cluster there. */
import { Option } from 'commander';
import { NAMESPACE } from '../../../api/names.ts';
import type { ForeignClusterName } from '../../../controllers/following/clusterapi/management.ts';
import { type DeployedProgram, MANAGEMENT_FILE, MANAGEMENT_FOLDER } from '../../../deploy/programs.ts';
import { CliError, EXIT } from '../../errors.ts';
import { parseClusterName, parseSecretName } from '../../option-parsers.ts';
import type { ExtensionFlags } from './update-extension.ts';

export interface ManagementInstallFlags extends ExtensionFlags {
  /** The name of a Secret. */
  readonly clusterApiSecret?: string;
  readonly clusterApiCluster?: ForeignClusterName;
}

export function createManagementSecretOption(): Option {
  return new Option(
    '--cluster-api-secret <secret>',
    `with --cluster --cluster-api: Secret in ${NAMESPACE} with ${MANAGEMENT_FILE}, for the management cluster that has the objects of Cluster API`,
  ).argParser(parseSecretName);
}

export function createManagementClusterOption(): Option {
  return new Option(
    '--cluster-api-cluster <namespace/name>',
    'the Cluster of Cluster API whose Nodes are in this cluster: others are left out',
  ).argParser(parseClusterName);
}

/** Adds the Secret with the connection, and the right to find the server by name. */
export function withManagement(
  program: DeployedProgram,
  { clusterApiSecret: secret, clusterApiCluster: cluster }: ManagementInstallFlags,
): DeployedProgram {
  if (cluster === undefined) return program;
  const name = ['--cluster-api-cluster', `${cluster.namespace}/${cluster.name}`];
  const named = { ...program, args: [...program.args, ...name] };
  if (secret === undefined) return named;
  const kubeconfig = ['--cluster-api-kubeconfig', `${MANAGEMENT_FOLDER}/${MANAGEMENT_FILE}`];
  return {
    ...named,
    args: [...named.args, ...kubeconfig],
    secrets: [...(program.secrets ?? []), { volume: 'management', secret, folder: MANAGEMENT_FOLDER }],
    usesDns: true,
  };
}

export function checkManagement(flags: ManagementInstallFlags): void {
  const { clusterApiSecret: secret, clusterApiCluster: name, updateExtension } = flags;
  if (secret !== undefined) requireOptions('--cluster-api-secret', { ...flags, hasName: name !== undefined });
  else if (name !== undefined) requireOptions('--cluster-api-cluster', { ...flags, hasName: true });
  if (updateExtension === undefined || secret === undefined) return;
  throw new CliError(
    '--update-extension registers in this cluster, and Cluster API is in the management cluster',
    {
      hint: 'run kubenode controllers with --extension-port where the management cluster reaches it, and register it there',
      exitCode: EXIT.usage,
    },
  );
}

function requireOptions(
  option: string,
  { cluster, clusterApi, hasName }: ManagementInstallFlags & { readonly hasName: boolean },
): void {
  const options = { '--cluster': cluster, '--cluster-api': clusterApi, '--cluster-api-cluster': hasName };
  const missing = Object.entries(options).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === 0) return;
  throw new CliError(`${option} needs ${missing.join(' and ')}`, {
    hint: 'docs/guides/cluster-api.md has an example',
    exitCode: EXIT.usage,
  });
}
