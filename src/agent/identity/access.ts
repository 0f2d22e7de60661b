/**
 * Connects the agent with its API server: by its own certificate on the disk or, to join, by what the bootstrap file names: a token, or the certificate
 * of the kubelet.
 */
import { createCredentials } from '../../kube/auth/credentials.ts';
import type { ObjectClient } from '../../kube/client/rest-client.ts';
import { createObjectClient } from '../../kube/client/rest-client.ts';
import { createHttpsTransport } from '../../kube/transport/https.ts';
import type { Clock } from '../../os/clock.ts';
import { systemCode } from '../../os/errors.ts';
import { readFileIfExists } from '../../os/files.ts';
import type { Host } from '../host/port.ts';
import { AGENT_PKI, CLUSTER_CA_FILE } from '../layout.ts';
import { type BootstrapAccess, bootstrapError, parseBootstrapFile } from './bootstrap-file.ts';
import type { JoinedCluster } from './known-cluster.ts';
import { nodeOfCertificate } from './kubelet-certificate.ts';
import { identityFiles } from './store.ts';

const USER_AGENT = 'kubenode-agent';

export async function readBootstrapFile(file: string): Promise<BootstrapAccess> {
  const text = await readFileIfExists(file).catch((error: unknown) => {
    throw bootstrapError(`cannot be read (${systemCode(error) ?? 'unknown error'})`, file);
  });
  if (text === undefined) throw bootstrapError('it does not exist', file);
  return parseBootstrapFile(text, file);
}

const KUBELET_HINT =
  'run this as root after the host has joined the cluster, or name the Machine with --machine and use a token';

/** Returns the Node whose kubelet vouches for the agent. */
export async function nodeOfBootstrap(file: string): Promise<string> {
  const access = await readBootstrapFile(file);
  if (!('certFile' in access)) {
    throw bootstrapError('it has a token, which is for one Machine: name it with --machine', file);
  }
  const { certFile } = access;
  const pem = await readFileIfExists(certFile).catch((error: unknown) => {
    const code = systemCode(error) ?? 'unknown error';
    throw bootstrapError(`the certificate of the kubelet cannot be read (${code})`, certFile, KUBELET_HINT);
  });
  if (pem === undefined) throw bootstrapError('the kubelet has no certificate yet', certFile, KUBELET_HINT);
  const node = nodeOfCertificate(pem);
  if (node === undefined) {
    throw bootstrapError('expected the certificate of a kubelet', certFile, KUBELET_HINT);
  }
  return node;
}

/** The certificate is read again when it is renewed; requests on the way are finished with the one before it. */
export function connectAsAgent(
  host: Pick<Host, 'directory'>,
  cluster: JoinedCluster,
  clock: Clock,
): ObjectClient {
  const certificate = hostPath(host, identityFiles(AGENT_PKI).certificate);
  const ca = cluster.hasCa ? { caFile: hostPath(host, CLUSTER_CA_FILE) } : {};
  const sources = { ...ca, certFile: certificate, keyFile: certificate };
  const credentials = createCredentials(sources, { clock, origin: 'the certificate of the agent' });
  return clientOf({ server: cluster.server, credentials, userAgent: USER_AGENT }, clock);
}

/** One client for each bootstrap file, closed when another one comes. */
export interface JoinClients {
  clientFor(access: BootstrapAccess): ObjectClient;
  close(): Promise<void>;
}

export function createJoinClients(clock: Clock): JoinClients {
  let open: { readonly key: string; readonly client: ObjectClient } | undefined;
  return {
    clientFor(access) {
      const key = JSON.stringify(access);
      if (open?.key === key) return open.client;
      void open?.client.close();
      open = { key, client: connectToJoin(access, clock) };
      return open.client;
    },
    async close() {
      await open?.client.close();
      open = undefined;
    },
  };
}

function connectToJoin({ server, ...sources }: BootstrapAccess, clock: Clock): ObjectClient {
  const credentials = createCredentials(sources, { clock, origin: 'the bootstrap file' });
  return clientOf({ server, credentials, userAgent: USER_AGENT }, clock);
}

function clientOf(connection: Parameters<typeof createHttpsTransport>[0], clock: Clock): ObjectClient {
  return createObjectClient(createHttpsTransport(connection), { server: connection.server, clock });
}

/** Returns the path at which programs of this machine find a file of the host. */
export function hostPath({ directory }: Pick<Host, 'directory'>, path: string): string {
  return directory === '/' ? path : `${directory}${path}`;
}
