/** Which entries of a Machine are pins: entries that a person or another tool owns. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { MANAGER_COMPONENTSET } from '../../../api/names.ts';
import { isRecord, valueAt } from '../../../kube/objects/json.ts';
import type { ManagedFields } from '../../../kube/objects/object.ts';

/**
 * Names of the entries that this controller does not own alone, by the owner of `componentRef`. Grants in a pin are ours, and
 * change nothing. Throws when the owners were not read: an apply that takes its own entries for pins would remove them.
 */
export function pinnedComponents(machine: Machine): ReadonlySet<string> {
  const found = known.get(machine) ?? findPins(machine);
  known.set(machine, found);
  return found;
}

/** Machines in views never change in place. */
const known = new WeakMap<Machine, ReadonlySet<string>>();

function findPins({ spec, metadata }: Machine): ReadonlySet<string> {
  const fields = metadata.managedFields;
  if (!fields) throw new Error(`the managedFields of Machine ${metadata.name} were not read`);
  const ours = new Set(fields.filter(isOurs).flatMap(ownedEntries));
  const others = new Set(fields.filter((each) => !isOurs(each)).flatMap(ownedEntries));
  const pinned = spec.components.filter(({ name }) => !ours.has(name) || others.has(name));
  return new Set(pinned.map(({ name }) => name));
}

function isOurs({ manager, operation }: ManagedFields): boolean {
  return manager === MANAGER_COMPONENTSET && operation === 'Apply';
}

/** Keys of a list map look like `k:{"name":"kubelet"}`. */
function ownedEntries({ fieldsV1 }: ManagedFields): readonly string[] {
  const entries = valueAt(fieldsV1, 'f:spec', 'f:components');
  if (!isRecord(entries)) return [];
  return Object.entries(entries).flatMap(([key, owned]) => {
    const isOwned = key.startsWith('k:') && isRecord(owned) && 'f:componentRef' in owned;
    const name = isOwned ? valueAt(JSON.parse(key.slice(2)), 'name') : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
