/** The options by which machines of other systems are followed, and Cluster API asks for updates in place. */
import type { Command } from 'commander';
import { NAMESPACE, UPDATE_EXTENSION } from '../../../api/names.ts';
import type { NodeGroupSelector } from '../../../controllers/following/nodegroup/selector.ts';
import type { CertificateFiles } from '../../../defender/http/server.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { CliError, EXIT } from '../../errors.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { parseNodeGroupSelector } from '../../programs/node-group-option.ts';

export interface ClusterApiFlags {
  readonly clusterApi?: true;
  readonly externalNodes?: true;
  readonly externalNodesSelector?: NodeGroupSelector;
  readonly extensionPort?: number;
  readonly extensionHost: string;
  readonly extensionCert?: string;
  readonly extensionKey?: string;
  readonly extensionClientCa?: string;
  readonly extensionSecret?: true;
}

export function addClusterApiOptions(command: Command): Command {
  return command
    .option('--cluster-api', 'also follow the Machines of Cluster API in this cluster')
    .option('--external-nodes', 'also follow the Nodes that Karpenter creates in this cluster')
    .option(
      '--external-nodes-selector <labels>',
      'also follow the Nodes with these labels, which are those of node groups of cluster-autoscaler',
      parseNodeGroupSelector,
    )
    .option(
      '--extension-port <n>',
      'with --cluster-api: port for the hooks of Cluster API that update machines in place; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--extension-host <address>', 'address for --extension-port to listen on', '127.0.0.1')
    .option('--extension-cert <file>', 'certificate of the hooks, PEM; read again when it changes')
    .option('--extension-key <file>', 'private key of the hooks, PEM')
    .option(
      '--extension-client-ca <file>',
      'authority of the client certificate of Cluster API, PEM; no other client is served',
    )
    .option(
      '--extension-secret',
      `instead of these files: make the certificate, and keep it in Secret ${UPDATE_EXTENSION} of ${NAMESPACE}`,
    );
}

export interface ExtensionSettings {
  readonly port: number;
  readonly certificate: CertificateFiles | 'Secret';
}

/** Undefined: no extension. */
export function extensionSettings(flags: Partial<ClusterApiFlags>): ExtensionSettings | undefined {
  const { clusterApi, extensionPort: port, extensionSecret } = flags;
  const files = [flags.extensionCert, flags.extensionKey, flags.extensionClientCa];
  if ([port, extensionSecret, ...files].every((each) => each === undefined)) return undefined;
  const certificate = certificateIn(flags);
  if (clusterApi && port !== undefined && certificate !== undefined) return { port, certificate };
  throw new CliError(
    'the update extension needs --cluster-api, --extension-port, and --extension-cert with --extension-key, or --extension-secret',
    {
      hint: 'pass all of them, or only --cluster-api; docs/guides/cluster-api.md has an example',
      exitCode: EXIT.usage,
    },
  );
}

/** Undefined: both ways, or none of them. */
function certificateIn(flags: Partial<ClusterApiFlags>): ExtensionSettings['certificate'] | undefined {
  const { extensionCert: certFile, extensionKey: keyFile, extensionClientCa: clientCaFile } = flags;
  if (flags.extensionSecret) {
    return [certFile, keyFile, clientCaFile].every((file) => file === undefined) ? 'Secret' : undefined;
  }
  if (certFile === undefined || keyFile === undefined) return undefined;
  return { certFile, keyFile, ...optional('clientCaFile', clientCaFile) };
}
