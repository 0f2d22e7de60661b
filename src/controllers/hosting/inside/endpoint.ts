/** The endpoint of the Service `kubernetes` inside a hosted cluster: where its pods reach the API server from other machines. */
import { isDeepStrictEqual } from 'node:util';
import {
  ENDPOINT_OUTSIDE,
  LABEL_MANAGED_BY,
  MANAGED_BY,
  MANAGER_HOSTING,
  SLICE_OF_API_SERVERS,
} from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { ENDPOINT_SLICES } from '../../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { OutsideAddress } from '../drivers/driver.ts';

/** `Foreign`: others made it, so that it is left as it is. `Changed`: others changed it. */
export type EndpointReport = OutsideAddress | 'Foreign' | 'Changed';

const LABELS = {
  'kubernetes.io/service-name': SLICE_OF_API_SERVERS,
  'endpointslice.kubernetes.io/managed-by': MANAGER_HOSTING,
  [LABEL_MANAGED_BY]: MANAGED_BY,
};

interface EndpointSlice extends KubeObject {
  readonly addressType: string;
  readonly endpoints: readonly object[];
  readonly ports: readonly object[];
}

export function endpointSlice({ host, port }: OutsideAddress): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: ENDPOINT_SLICES.kind,
    metadata: { ...ENDPOINT_OUTSIDE, labels: LABELS },
    addressType: 'IPv4',
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: [{ name: 'https', port, protocol: 'TCP' }],
  };
}

/** Returns undefined where it is missing. */
export function reportEndpoint(found: KubeObject | undefined): EndpointReport | undefined {
  if (!found) return undefined;
  const labels = found.metadata.labels ?? {};
  if (labels[LABEL_MANAGED_BY] !== MANAGED_BY) return 'Foreign';
  const [endpoint] = listAt(found, 'endpoints');
  const [port] = listAt(found, 'ports');
  const [host] = listAt(endpoint, 'addresses');
  const address = { host: String(host), port: Number(valueAt(port, 'port')) };
  const expected = endpointSlice(address);
  const isOurs = Object.entries(LABELS).every(([name, value]) => labels[name] === value);
  const isSame =
    textAt(found, 'addressType') === expected.addressType &&
    isDeepStrictEqual(valueAt(found, 'endpoints'), expected.endpoints) &&
    isDeepStrictEqual(valueAt(found, 'ports'), expected.ports);
  return isOurs && isSame ? address : 'Changed';
}

export async function readOutsideEndpoint(
  client: Pick<Client, 'get'>,
  signal: AbortSignal,
): Promise<EndpointReport | undefined> {
  return reportEndpoint(await unlessMissing(client.get(ENDPOINT_SLICES, ENDPOINT_OUTSIDE, { signal })));
}
