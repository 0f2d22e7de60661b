/** Reads the facts of a hosted control plane that a person names: the Defender of a command reads no Clusters. */
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import type { MachineFacts } from '../../../defender/facts/facts.ts';
import {
  clusterOfKey,
  hostedControlPlaneFacts,
} from '../../../defender/facts/other-subjects/hosted-control-plane.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';

/** Resolves to undefined when the key is that of a Machine, or no hosted Cluster has this name. */
export async function readControlPlane(
  client: Pick<Client, 'get'>,
  key: string,
  signal: AbortSignal,
): Promise<MachineFacts | undefined> {
  const name = clusterOfKey(key);
  if (name === undefined || name === '') return undefined;
  const cluster = await unlessMissing(client.get<Cluster>(CLUSTERS, { name }, { signal }));
  return cluster && hostedControlPlaneFacts(cluster);
}
