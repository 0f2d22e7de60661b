/** Who a cluster is, whatever its address: the UID of its namespace kube-system. */

import type { Client } from '../kube/client.ts';
import { NAMESPACES } from '../kube/core-kinds.ts';
import { KubeError } from '../kube/errors.ts';

export async function clusterUID(
  client: Pick<Client, 'get' | 'server'>,
  signal: AbortSignal,
): Promise<string> {
  const { metadata } = await client.get(NAMESPACES, { name: 'kube-system' }, { signal });
  if (metadata.uid) return metadata.uid;
  throw new KubeError('BadAnswer', `the namespace kube-system on ${client.server} has no UID`);
}
