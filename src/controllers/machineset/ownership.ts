/** Which Machines belong to a set, by their label and their owner. Pure. */
import type { Machine, MachineSet } from '../../api/generated/types.ts';
import { GROUP, LABEL_MACHINESET } from '../../api/names.ts';
import type { OwnerReference } from '../../kube/objects/object.ts';

export type SetMembership =
  | 'Member'
  /** It has the label, and no owner that exists: a set that was created again finds its machines. */
  | 'Orphan'
  /** A person changed its label, to take it out of the set. */
  | 'Released'
  | 'Foreign';

export function setMembership(set: MachineSet, machine: Machine): SetMembership {
  const { name, uid } = set.metadata;
  const owner = ownerOf(machine);
  const isOwner = owner !== undefined && owner.uid === uid;
  if (machine.metadata.labels?.[LABEL_MACHINESET] !== name) return isOwner ? 'Released' : 'Foreign';
  if (isOwner) return 'Member';
  return isWithoutOwner(owner, name) && isOfProvider(set, machine) ? 'Orphan' : 'Foreign';
}

function isWithoutOwner(owner: OwnerReference | undefined, set: string): boolean {
  return owner === undefined || isFormerSet(owner, set);
}

function isOfProvider({ spec }: MachineSet, machine: Machine): boolean {
  return machine.spec.infra.provider === spec.template.infra.provider;
}

function ownerOf({ metadata }: Machine): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function ownerReference({ apiVersion, kind, metadata }: MachineSet): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true };
}

/** The list after the set took the machine over. */
export function adoptedReferences(set: MachineSet, { metadata }: Machine): readonly OwnerReference[] {
  const others = (metadata.ownerReferences ?? []).filter((each) => !isFormerSet(each, set.metadata.name));
  return [...others, ownerReference(set)];
}

export function releasedReferences(set: MachineSet, { metadata }: Machine): readonly OwnerReference[] {
  return (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== set.metadata.uid);
}

/** A name belongs to one set at a time: another UID is that of a set that is deleted. */
function isFormerSet({ apiVersion, kind, name }: OwnerReference, set: string): boolean {
  return apiVersion.startsWith(`${GROUP}/`) && kind === 'MachineSet' && name === set;
}
