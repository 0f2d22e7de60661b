/** Whether an entry of a Machine is a pin of somebody else, whom this extension does not overrule. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import { MANAGER_CLUSTERAPI_UPDATE, MANAGER_COMPONENTSET } from '../../../../api/names.ts';
import { valueAt } from '../../../../kube/objects/json.ts';

const OURS: readonly string[] = [MANAGER_COMPONENTSET, MANAGER_CLUSTERAPI_UPDATE];

/** Without an owner that is known the entry counts as that of another: views keep only the owners of kubenode. */
export function isPinOfAnother({ metadata }: Machine, name: string): boolean {
  const owners = (metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => ownsEntry(fieldsV1, name))
    .map(({ manager }) => manager ?? '');
  return owners.length === 0 || owners.some((owner) => !OURS.includes(owner));
}

/** Returns the names of the entries that this extension has pinned. One apply has to name all of them, as it removes what it leaves out. */
export function ownPins({ metadata, spec }: Machine): readonly string[] {
  const own = (metadata.managedFields ?? []).filter(({ manager }) => manager === MANAGER_CLUSTERAPI_UPDATE);
  const names = spec.components.map(({ name }) => name);
  return names.filter((name) => own.some(({ fieldsV1 }) => ownsEntry(fieldsV1, name)));
}

/** Keys of a list map look like `k:{"name":"kubelet"}`. */
function ownsEntry(fields: unknown, name: string): boolean {
  const key = `k:${JSON.stringify({ name })}`;
  return valueAt(fields, 'f:spec', 'f:components', key, 'f:componentRef') !== undefined;
}
