/**
 * Reads the names of Machines that have hosts of pools. A host that was not cleaned in time, because it does not answer over SSH, may still run the
 * kubelet of a Node of such a name: another Machine of the name would share its Node, and its pods would run on both hosts.
 */
import { LABEL_HOST_CLAIM, NAMESPACE_HOSTS } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { parseClaim } from './claim.ts';

export async function listClaimedNames(
  client: Pick<Client, 'pages'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = [];
  const options = { namespace: NAMESPACE_HOSTS, labelSelector: LABEL_HOST_CLAIM, signal };
  for await (const { items } of client.pages(LEASES, options)) {
    for (const lease of items) {
      const claim = parseClaim(lease);
      if (claim && claim.state !== 'Deleted') names.push(claim.machine);
    }
  }
  return names;
}
