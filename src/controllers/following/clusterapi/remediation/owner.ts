/** Which Machine of Cluster API a request is for. Pure. */
import type { KubenodeRemediation } from '../../../../api/clusterapi/remediation.ts';
import { ownerKey } from '../../owner.ts';
import { CLUSTER_API_GROUP, type ForeignMachine } from '../contract.ts';

export interface OwnerOfRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the requests but those for Machines that are in another cluster: the kubenode there answers them. */
export function requestsHere(
  requests: readonly KubenodeRemediation[],
  theirs: readonly ForeignMachine[],
  isHere: (machine: ForeignMachine) => boolean,
): readonly KubenodeRemediation[] {
  const elsewhere = new Set(theirs.filter((each) => !isHere(each)).map(ownerKey));
  return requests.filter((request) => {
    const owner = requestOwner(request);
    return !owner || !elsewhere.has(ownerKey(owner));
  });
}

/** Returns the owner of the object, as a health check writes it; undefined: it has none of this kind. */
export function requestOwner({ metadata }: KubenodeRemediation): OwnerOfRequest | undefined {
  const owner = (metadata.ownerReferences ?? []).find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${CLUSTER_API_GROUP}/`),
  );
  return owner && { namespace: metadata.namespace ?? '', name: owner.name, uid: owner.uid };
}
