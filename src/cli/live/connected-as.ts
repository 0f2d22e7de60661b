/** Tells when a cluster of the hub has to be connected again. Pure. */
import type { Cluster } from '../../api/generated/types.ts';

/** Returns another text when a Cluster has another Secret or server, leads to another cluster, or was created again under its name. */
export function connectedAs({ metadata, spec, status }: Cluster): string {
  const { connection, hosted, clusterUID = status?.clusterUID } = spec;
  return JSON.stringify([metadata.uid, connection, hosted !== undefined, clusterUID]);
}
