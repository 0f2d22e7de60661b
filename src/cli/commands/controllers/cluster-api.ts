/** The options by which Cluster API is followed and asks for updates in place, and the start of the extension's server. */
import type { Command } from 'commander';
import { createExtensionApi, MAX_HOOK_BYTES } from '../../../controllers/clusterapi/extension/http.ts';
import { connectUpdateExtension } from '../../../controllers/clusterapi-extension.ts';
import type { GroupParts } from '../../../controllers/group.ts';
import { type HttpServer, startHttpServer } from '../../../defender/http/server.ts';
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
    );
}

/** Rejects when the port is taken. Undefined without a port. */
export async function serveExtension(
  flags: ClusterApiFlags,
  parts: Pick<GroupParts, 'connectAs' | 'connectTo' | 'clock' | 'log'>,
  views: Views,
): Promise<HttpServer | undefined> {
  const files = extensionFiles(flags);
  if (!files) return undefined;
  const { clock, log } = parts;
  const api = createExtensionApi(await connectUpdateExtension(parts, views));
  const server = await startHttpServer({
    ...files,
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

function explainCertificate(error: unknown): never {
  if (!isKubeError(error, 'Credentials')) throw error;
  throw new CliError(`certificate of the update extension: ${error.message}`, {
    hint: 'check --extension-cert, --extension-key and --extension-client-ca; docs/guides/cluster-api.md shows how to get them',
    exitCode: EXIT.badInput,
    cause: error,
  });
}

interface ExtensionFiles {
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile?: string;
}

/** Undefined: no extension. */
export function extensionFiles(flags: Partial<ClusterApiFlags>): ExtensionFiles | undefined {
  const { extensionPort: port, extensionCert: certFile, extensionKey: keyFile } = flags;
  const { clusterApi, extensionClientCa } = flags;
  if ([port, certFile, keyFile, extensionClientCa].every((each) => each === undefined)) return undefined;
  if (clusterApi && port !== undefined && certFile !== undefined && keyFile !== undefined) {
    return { port, certFile, keyFile, ...optional('clientCaFile', extensionClientCa) };
  }
  throw new CliError(
    'the update extension needs --cluster-api, --extension-port, --extension-cert and --extension-key',
    {
      hint: 'pass all four, or only --cluster-api; docs/guides/cluster-api.md has an example',
      exitCode: EXIT.usage,
    },
  );
}
