/** Warns of a NetworkPolicy that would keep the pods from the API servers of their own cluster. */
import { NAMESPACE_OF_API_SERVERS } from '../../../api/names.ts';
import { serverUrls } from '../../../controllers/componentset/servers/endpoints.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { ENDPOINT_SLICES } from '../../../kube/objects/core-kinds.ts';

const HTTPS = 443;

/** Empty if the pods can connect, or if the user may not read which ports the API servers have. */
export async function blockedPortWarnings(
  client: Pick<Client, 'list'>,
  permitted: readonly number[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const { items } = await client.list(ENDPOINT_SLICES, {
      namespace: NAMESPACE_OF_API_SERVERS,
      labelSelector: 'kubernetes.io/service-name=kubernetes',
      signal,
    });
    return blockedPorts(serverUrls(items), permitted).map(
      (port) =>
        `the API server of this cluster listens on port ${port}, which the NetworkPolicies do not permit: pass --egress-port ${port}`,
    );
  } catch (error) {
    // The rights of the guide do not include it.
    if (isKubeError(error, 'Forbidden')) return [];
    throw error;
  }
}

/** In order, once each. */
export function blockedPorts(urls: readonly string[], permitted: readonly number[]): readonly number[] {
  const ports = urls.map((url) => Number(new URL(url).port || HTTPS));
  return [...new Set(ports)].filter((port) => !permitted.includes(port)).toSorted((a, b) => a - b);
}
