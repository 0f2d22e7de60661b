/** Starts the server of the update extension of Cluster API. */
import { PRINCIPAL_CLUSTERAPI } from '../../../api/names.ts';
import { connectUpdateExtension } from '../../../controllers/clusterapi-extension.ts';
import { openCertificateSource } from '../../../controllers/following/clusterapi/extension/certificate/source.ts';
import {
  createExtensionApi,
  MAX_HOOK_BYTES,
} from '../../../controllers/following/clusterapi/extension/http.ts';
import type { GroupParts } from '../../../controllers/group.ts';
import { type HttpServer, startHttpServer } from '../../../defender/http/server.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Views } from '../../../kube/controller/views.ts';
import { CliError, EXIT } from '../../errors.ts';
import { type ClusterApiFlags, extensionSettings } from './cluster-api.ts';
import { type LateServer, serveLater } from './late-server.ts';

/** Rejects when the port is taken, or a file cannot be read. Undefined without a port. */
export async function serveExtension(
  flags: ClusterApiFlags,
  parts: Pick<GroupParts, 'connectAs' | 'connectTo' | 'management' | 'clock' | 'log'>,
  views: Views,
): Promise<LateServer | undefined> {
  const settings = extensionSettings(flags);
  if (!settings) return undefined;
  const { port, certificate } = settings;
  const { clock, log, connectAs } = parts;
  const api = createExtensionApi(await connectUpdateExtension(parts, views));
  const common = { port, api, what: 'the hooks of Cluster API', maxBodyBytes: MAX_HOOK_BYTES, clock, log };
  const client = await connectAs(PRINCIPAL_CLUSTERAPI);
  if (certificate !== 'Secret') return await start(() => certificate).catch(explainCertificate);
  // All other controllers work without the Secret, which another installation may have removed.
  return await serveLater(() => start(() => openCertificateSource({ client, clock, log })), {
    clock,
    isAwaited: (error) => isKubeError(error, 'NotFound', 'Forbidden'),
    report: (because) => log.warn('update extension of Cluster API not started', { because, hint: INSTALL }),
  });

  async function start(open: () => Awaitable<Certificate>): Promise<HttpServer> {
    const server = await startHttpServer({
      ...common,
      certificate: await open(),
      host: flags.extensionHost,
    });
    log.info('update extension of Cluster API started', { url: server.url });
    return server;
  }
}

type Certificate = Parameters<typeof startHttpServer>[0]['certificate'];
type Awaitable<T> = T | Promise<T>;

const INSTALL = 'run kubenode install with --cluster --cluster-api --update-extension';

function explainCertificate(error: unknown): never {
  if (!isKubeError(error, 'Credentials')) throw error;
  throw new CliError(`certificate of the update extension: ${error.message}`, {
    hint: 'check --extension-cert, --extension-key and --extension-client-ca; docs/guides/cluster-api.md shows how to get them',
    exitCode: EXIT.badInput,
    cause: error,
  });
}
