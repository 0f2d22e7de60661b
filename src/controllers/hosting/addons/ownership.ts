/** Decides which objects of a cluster are those of an add-on, and which of them are never deleted. Pure. */
import { LABEL_ADDON, MANAGER_HOSTING } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { protectedReason } from './protection.ts';

/** Deleting them would delete what others made in them. */
const KEPT: readonly string[] = [
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolume',
  'PersistentVolumeClaim',
];

/** Returns why an object that exists may not be written for the add-on. A person may have removed its label. */
export function notOursReason(
  { metadata }: KubeObject,
  addon: string,
  isDeclared: (addon: string) => boolean,
): string | undefined {
  if (!isAppliedByHosting(metadata)) return 'it was made by others';
  const owner = metadata.labels?.[LABEL_ADDON] ?? addon;
  return owner === addon || !isDeclared(owner) ? undefined : `it belongs to the add-on ${owner}`;
}

/** Tells whether the object goes with its add-on. A label alone may be copied by anybody, and one without the label was taken over. */
export function isDeletable(live: KubeObject, addon: string): boolean {
  const isOurs = isAppliedByHosting(live.metadata) && live.metadata.labels?.[LABEL_ADDON] === addon;
  return isOurs && !KEPT.includes(live.kind) && protectedReason(live) === undefined;
}

function isAppliedByHosting({ managedFields = [] }: KubeObject['metadata']): boolean {
  return managedFields.some(({ manager, operation }) => manager === MANAGER_HOSTING && operation === 'Apply');
}
