/** The options by which Cluster API is followed and asks for updates in place, and the start of the extension's server. */
import type { Command } from 'commander';
import { NAMESPACE, PRINCIPAL_CLUSTERAPI, UPDATE_EXTENSION } from '../../../api/names.ts';
import { openCertificateSource } from '../../../controllers/clusterapi/extension/certificate/source.ts';
import { createExtensionApi, MAX_HOOK_BYTES } from '../../../controllers/clusterapi/extension/http.ts';
import { connectUpdateExtension } from '../../../controllers/clusterapi-extension.ts';
import type { GroupParts } from '../../../controllers/group.ts';
import {
  type CertificateFiles,
  type HttpServer,
  startHttpServer,
  type TlsSource,
} from '../../../defender/http/server.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Views } from '../../../kube/controller/views.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { CliError, EXIT } from '../../errors.ts';
import { createIntegerParser } from '../../option-parsers.ts';

export interface ClusterApiFlags {
  readonly clusterApi?: true;
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

/** Rejects when the port is taken. Undefined without a port. */
export async function serveExtension(
  flags: ClusterApiFlags,
  parts: Pick<GroupParts, 'connectAs' | 'connectTo' | 'clock' | 'log'>,
  views: Views,
): Promise<HttpServer | undefined> {
  const settings = extensionSettings(flags);
  if (!settings) return undefined;
  const { port, certificate } = settings;
  const { clock, log } = parts;
  const api = createExtensionApi(await connectUpdateExtension(parts, views));
  const server = await startHttpServer({
    port,
    certificate: certificate === 'Secret' ? await openSecret(parts) : certificate,
    api,
    what: 'the hooks of Cluster API',
    maxBodyBytes: MAX_HOOK_BYTES,
    host: flags.extensionHost,
    clock,
    log,
  }).catch(explainCertificate);
  log.info('update extension of Cluster API started', { url: server.url });
  return server;
}

async function openSecret({
  connectAs,
  clock,
  log,
}: Pick<GroupParts, 'connectAs' | 'clock' | 'log'>): Promise<TlsSource> {
  const client = await connectAs(PRINCIPAL_CLUSTERAPI);
  try {
    return await openCertificateSource({ client, clock, log });
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Forbidden')) throw error;
    throw new CliError(`certificate of the update extension: ${error.message}`, {
      hint: 'run kubenode install with --cluster --cluster-api --update-extension',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

function explainCertificate(error: unknown): never {
  if (!isKubeError(error, 'Credentials')) throw error;
  throw new CliError(`certificate of the update extension: ${error.message}`, {
    hint: 'check --extension-cert, --extension-key and --extension-client-ca; docs/guides/cluster-api.md shows how to get them',
    exitCode: EXIT.badInput,
    cause: error,
  });
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
