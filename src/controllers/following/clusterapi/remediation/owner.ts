/** Which Machine of Cluster API a request is for. Pure. */
import type { KubenodeRemediation } from '../../../../api/clusterapi/remediation.ts';
import { CLUSTER_API_GROUP } from '../contract.ts';

export interface OwnerOfRequest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Returns the owner of the object, as a health check writes it; undefined: it has none of this kind. */
export function requestOwner({ metadata }: KubenodeRemediation): OwnerOfRequest | undefined {
  const owner = (metadata.ownerReferences ?? []).find(
    ({ apiVersion, kind }) => kind === 'Machine' && apiVersion.startsWith(`${CLUSTER_API_GROUP}/`),
  );
  return owner && { namespace: metadata.namespace ?? '', name: owner.name, uid: owner.uid };
}
