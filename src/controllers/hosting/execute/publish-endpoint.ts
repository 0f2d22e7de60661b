/** Publishes where pods of other machines reach the API server of a control plane, inside its cluster. */
import { ENDPOINT_OUTSIDE, MANAGER_HOSTING } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { ENDPOINT_SLICES } from '../../../kube/objects/core-kinds.ts';
import type { OutsideAddress } from '../drivers/driver.ts';
import { endpointSlice, reportEndpoint } from '../inside/endpoint.ts';

/** Undefined: other machines reach the API server no more, or by a name. */
export async function writeEndpoint(
  client: Pick<Client, 'apply' | 'get' | 'delete'>,
  address: OutsideAddress | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (address) {
    const options = { fieldManager: MANAGER_HOSTING, force: true, signal };
    await client.apply(ENDPOINT_SLICES, endpointSlice(address), options);
    return;
  }
  const found = await unlessMissing(client.get(ENDPOINT_SLICES, ENDPOINT_OUTSIDE, { signal }));
  if (!found || reportEndpoint(found) === 'Foreign') return;
  const { uid = '' } = found.metadata;
  await unlessMissing(client.delete(ENDPOINT_SLICES, ENDPOINT_OUTSIDE, { uid, signal }));
}
