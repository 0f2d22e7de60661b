/** Identifies a cluster independently of its address: by the UID of its namespace kube-system. */
import type { CallOptions, Client } from '../kube/client/client.ts';
import { KubeError } from '../kube/client/errors.ts';
import { NAMESPACES } from '../kube/objects/core-kinds.ts';

export async function readClusterUID(
  client: Pick<Client, 'get' | 'server'>,
  signal: AbortSignal,
  options: Pick<CallOptions, 'timeoutMs'> = {},
): Promise<string> {
  const { metadata } = await client.get(NAMESPACES, { name: 'kube-system' }, { ...options, signal });
  if (metadata.uid) return metadata.uid;
  throw new KubeError('BadAnswer', `the namespace kube-system on ${client.server} has no UID`);
}
