/** Connects to a cluster of the fleet from its hub: by a context of the same name, or with the Secret that sync uses. */
import type { Cluster } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import type { ShownConnection } from '../../console/feeds/connected-clusters.ts';
import { MissingContextError } from '../../kube/auth/kubeconfig.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import { messageOf } from '../../os/errors.ts';
import { readClusterUID } from '../../sync/cluster-uid.ts';
import { connectCluster, credentialsOf } from '../../sync/hub/connection.ts';
import { type ConnectionFlags, connectFrom, findKubeconfig } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';

/** A person waits, and a server that drops packets never refuses a connection. */
const IDENTITY_TIMEOUT_MS = 5000;

export interface HubMember {
  readonly hub: Client;
  readonly cluster: Cluster;
}

export interface LastingMember extends HubMember {
  /** Connects to the hub once more, for a cluster that is the hub itself: the caller closes each client. */
  readonly connectHub: () => Promise<Client>;
  /** Called for every request that is answered. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
}

/** The caller closes it, unless it is the client of the hub itself. */
export async function connectMember(
  io: Io,
  flags: ConnectionFlags,
  { hub, cluster }: HubMember,
): Promise<Client> {
  const connection = await connectLasting(io, flags, { hub, cluster, connectHub: async () => hub });
  if (connection.by !== 'unchecked context') return connection.client;
  await connection.client.close();
  const { name } = cluster.metadata;
  throw new CliError(
    `context ${name} is not used before it is known to lead to Cluster ${name}: you may not get the namespace kube-system there`,
    { exitCode: EXIT.unavailable },
  );
}

/** Connects with a client that the caller closes in each case. */
export async function connectLasting(
  io: Io,
  flags: ConnectionFlags,
  member: LastingMember,
): Promise<ShownConnection> {
  const { hub, cluster, connectHub, onCall } = member;
  if (cluster.spec.connection?.inCluster) return { client: await connectHub(), by: 'hub' };
  const uid = cluster.spec.clusterUID ?? cluster.status?.clusterUID;
  const found = uid === undefined ? unidentified(cluster) : await connectByContext(io, flags, member, uid);
  if (typeof found !== 'string') return found;
  try {
    return { client: await connectBySecret(io, hub, cluster, onCall), by: 'Secret' };
  } catch (error) {
    throw new CliError(`with the Secret of the hub: ${messageOf(error)}; and ${found}`, {
      cause: error,
      exitCode: EXIT.unavailable,
    });
  }
}

/** A context of the same name may belong to any cluster, and there is nothing to compare it with. */
export function unidentified({ metadata: { name } }: Cluster): string {
  return (
    `a context ${name} is not used before status.clusterUID of Cluster ${name} shows which cluster it has to be: ` +
    'sync sets it when it connects'
  );
}

/** Connects with the rights of the person. Its identity decides. Resolves to the reason if no context leads to the cluster. */
async function connectByContext(
  io: Io,
  flags: ConnectionFlags,
  { cluster, onCall }: LastingMember,
  uid: string,
): Promise<ShownConnection | string> {
  const context = cluster.metadata.name;
  const kubeconfig = findKubeconfig(io, flags);
  // In a pod, any name would lead to the cluster of the pod.
  if (kubeconfig === undefined) return `no kubeconfig was found, so none has a context ${context}`;
  try {
    const client = await connectFrom(io, { kubeconfig, context }, onCall);
    return await checkIdentity(io, client, { context, uid });
  } catch (error) {
    if (error instanceof MissingContextError) return error.message;
    throw error;
  }
}

/** Resolves to the reason if the context leads to another cluster. A client that is not returned is closed. */
export async function checkIdentity(
  { signal }: Pick<Io, 'signal'>,
  client: Client,
  { context, uid }: { readonly context: string; readonly uid: string },
): Promise<ShownConnection | string> {
  try {
    const found = await readClusterUID(client, signal, { timeoutMs: IDENTITY_TIMEOUT_MS });
    if (found === uid) return { client, by: 'context' };
    await client.close();
    return `context ${context} of the kubeconfig leads to another cluster: expected UID ${uid}, got ${found}`;
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return { client, by: 'unchecked context' };
    await client.close();
    throw error;
  }
}

/** Connects with the credentials that sync uses. */
export async function connectBySecret(
  { clock, signal }: Pick<Io, 'clock' | 'signal'>,
  hub: Client,
  cluster: Cluster,
  onCall?: (report: CallReport) => void,
): Promise<Client> {
  const secrets = createStore({ log: SILENT_LOG });
  const ref = credentialsOf(cluster);
  if (ref) secrets.put(await hub.get(SECRETS, { name: ref.name, namespace: NAMESPACE }, { signal }));
  const connectHub = async (): Promise<Client> => hub;
  return await connectCluster(cluster, { secrets, clock, connectHub, ...optional('onCall', onCall) });
}

export const SILENT_LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: (): Log => SILENT_LOG,
};
