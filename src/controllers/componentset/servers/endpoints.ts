/** Reads the addresses of the API servers from the EndpointSlices of the Service default/kubernetes. Pure. */
import { isIPv6 } from 'node:net';
import { byCode } from '../../../kube/objects/digest.ts';
import { listAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

/** Returns the URLs of the servers, also of endpoints that are not ready: such a server may run. Sorted, each once. */
export function serverUrls(slices: readonly KubeObject[]): readonly string[] {
  const urls = slices.flatMap((slice) => {
    const ports = listAt(slice, 'ports').flatMap((port) => valueAt(port, 'port') ?? []);
    const addresses = listAt(slice, 'endpoints').flatMap(addressesOf);
    return addresses.flatMap((address) => ports.map((port) => urlOf(address, port)));
  });
  return [...new Set(urls)].toSorted(byCode);
}

function addressesOf(endpoint: unknown): readonly string[] {
  return listAt(endpoint, 'addresses').filter((address) => typeof address === 'string');
}

function urlOf(address: string, port: unknown): string {
  return `https://${isIPv6(address) ? `[${address}]` : address}:${String(port)}`;
}
