/** Who a cluster is, whatever its address: the UID of its namespace kube-system. */
import type { Client } from '../kube/client.ts';
import { KubeError } from '../kube/errors.ts';
import type { Resource } from '../kube/object.ts';

const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

export async function clusterUID(
  client: Pick<Client, 'get' | 'server'>,
  signal: AbortSignal,
): Promise<string> {
  const { metadata } = await client.get(NAMESPACES, { name: 'kube-system' }, { signal });
  if (metadata.uid) return metadata.uid;
  throw new KubeError('BadAnswer', `the namespace kube-system on ${client.server} has no UID`);
}
