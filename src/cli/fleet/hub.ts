/** The clusters of a hub, for commands that may be asked of the hub itself. */
import { CLUSTERS } from '../../api/generated/resources.ts';
import type { Cluster } from '../../api/generated/types.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { byCode } from '../../kube/objects/digest.ts';

/** None in a cluster that is not a hub, and for a person who may not list them. */
export async function listClusters(client: Client, signal: AbortSignal): Promise<readonly Cluster[]> {
  try {
    const { items } = await client.list<Cluster>(CLUSTERS, { signal });
    return items.toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  } catch (error) {
    if (isKubeError(error, 'NotFound', 'Forbidden')) return [];
    throw error;
  }
}

/** For a command about one cluster that was asked of the hub; undefined: this is not a hub, or it is a member of its own fleet. */
export async function hubHint(client: Client, signal: AbortSignal): Promise<string | undefined> {
  const clusters = await listClusters(client, signal);
  if (clusters.length === 0 || clusters.some(({ spec }) => spec.connection?.inCluster)) return undefined;
  const names = clusters.slice(0, MAX_NAMES).map(({ metadata }) => metadata.name);
  return `this is the hub, and its clusters have the machines: add --context with one of ${names.join(', ')}`;
}

const MAX_NAMES = 20;
