/** Connects to a cluster of the fleet from its hub: by a context of the same name, or with the Secret that sync uses. */
import type { Cluster } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { Client } from '../../kube/client/client.ts';
import type { CallReport } from '../../kube/client/request.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import { readClusterUID } from '../../sync/cluster-uid.ts';
import { connectCluster, credentialsOf } from '../../sync/hub/connection.ts';
import { type ConnectionFlags, connectFrom } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';

/** The caller closes it, unless it is the client of the hub itself. */
export async function connectMember(
  io: Io,
  flags: ConnectionFlags,
  { hub, cluster }: Member,
): Promise<Client> {
  if (cluster.spec.connection?.inCluster) return hub;
  const uid = cluster.spec.clusterUID ?? cluster.status?.clusterUID;
  if (uid === undefined) return await connectUnidentified(io, hub, cluster);
  return (await connectByContext(io, flags, { cluster, uid })) ?? (await connectBySecret(io, hub, cluster));
}

interface Member {
  readonly hub: Client;
  readonly cluster: Cluster;
}

/** Connects with the Secret only: a context of the same name may belong to any cluster, and there is nothing to compare it with. */
async function connectUnidentified(io: Io, hub: Client, cluster: Cluster): Promise<Client> {
  try {
    return await connectBySecret(io, hub, cluster);
  } catch (error) {
    const { name } = cluster.metadata;
    const { message } = error as Error;
    throw new CliError(
      `${message}; and a context ${name} is not used before status.clusterUID of Cluster ${name} shows which cluster it has to be: ` +
        'sync sets it when it connects',
      { cause: error, exitCode: EXIT.unavailable },
    );
  }
}

interface IdentifiedCluster {
  readonly cluster: Cluster;
  readonly uid: string;
}

/** With the rights of the person. A context of that name may belong to another cluster: its identity decides. */
async function connectByContext(
  io: Io,
  { kubeconfig }: ConnectionFlags,
  { cluster, uid }: IdentifiedCluster,
): Promise<Client | undefined> {
  const quiet = { ...io, err: () => undefined };
  const context = cluster.metadata.name;
  const client = await connectFrom(quiet, { ...optional('kubeconfig', kubeconfig), context }).catch(
    () => undefined,
  );
  if (!client) return undefined;
  try {
    if ((await readClusterUID(client, io.signal)) === uid) return client;
    await client.close();
    return undefined;
  } catch (error) {
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
