/** Connects a console to a cluster that the hub lists: by the context of its name, or with the Secret of the hub that sync uses. */
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import type { ShownConnection } from '../../../console/feeds/connected-clusters.ts';
import type { Client } from '../../../kube/client/client.ts';
import { type ConnectionFlags, connectFrom } from '../../connection.ts';
import { connectLasting } from '../../fleet/connect-cluster.ts';
import type { Io } from '../../io.ts';
import type { OnCall } from './explain.ts';

export interface ShownClusterParts {
  readonly io: Io;
  /** The connection to the hub. */
  readonly flags: ConnectionFlags;
  readonly hub: Client;
  /** Called for every request that is answered. */
  readonly onCall?: OnCall | undefined;
}

/**
 * A cluster that a commit adds has no context in the kubeconfig of the person, and its machines belong to the fleet all the same. The hub,
 * as a cluster of its own, is connected once more: each of these clients is closed when its cluster is not shown.
 */
export async function connectShownCluster(
  name: string,
  { io, flags, hub, onCall }: ShownClusterParts,
): Promise<ShownConnection> {
  const cluster = await hub.get<Cluster>(CLUSTERS, { name }, { signal: io.signal });
  return await connectLasting(io, flags, {
    hub,
    cluster,
    connectHub: () => connectFrom(io, flags, onCall),
    onCall,
  });
}
