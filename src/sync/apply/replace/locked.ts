/**
 * Tells whether a person or another client made an object immutable after git declared it. Which other fields are immutable is
 * decided by the kind: this one turns an update that was reviewed into a replacement that no plan showed (S40).
 */
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { nameOf } from '../../../kube/client/paths.ts';
import { isRecord } from '../../../kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../../kube/objects/object.ts';
import { isApplyOfSync } from '../inventory/owner-labels.ts';

/** Returns why a replacement of the object is held. Undefined if git made it immutable, or it is not. */
export function lockedReason(found: KubeObject): string | undefined {
  if (found['immutable'] !== true) return undefined;
  const owners = (found.metadata.managedFields ?? []).filter(setsImmutable);
  if (owners.length === 0 || owners.some(isApplyOfSync)) return undefined;
  const names = [...new Set(owners.map(({ manager }) => manager))].slice(0, 3).join(', ');
  return (
    `${names} made it immutable in the cluster, and no commit did: the change that was reviewed would replace it. ` +
    'Delete it, and sync creates it as git declares; or revert the commit'
  );
}

function setsImmutable({ fieldsV1 }: ManagedFields): boolean {
  return isRecord(fieldsV1) && fieldsV1['f:immutable'] !== undefined;
}

/** Reads the object and decides by it. One that is not found needs no replacement. */
export async function readLockedReason(
  client: Pick<Client, 'get' | 'resourceFor'>,
  { object }: { readonly object: KubeObject },
): Promise<string | undefined> {
  try {
    const resource = await client.resourceFor(object.apiVersion, object.kind);
    return lockedReason(await client.get(resource, nameOf(object)));
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined;
    throw error;
  }
}
