/** Which other field managers own the fields of a live object that differ from git. Pure. */

import { matchesValue } from '../../../kube/objects/field-differences.ts';
import { isRecord } from '../../../kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../../kube/objects/object.ts';
import { comparedFields } from '../drift.ts';
import { isApplyOfSync } from '../inventory/owner-labels.ts';

/** The client that changes a field owns it from then on. A field that was removed has no owner. */
export function ownersOfDrift(desired: KubeObject, live: KubeObject): readonly ManagedFields[] {
  const compared = comparedFields(desired);
  return otherManagers(live).filter(({ fieldsV1 }) => ownsDifference(fieldsV1, compared, live));
}

/** Not the own applies of sync, and not what controllers report in the status, which git does not set. */
export function otherManagers({ metadata }: KubeObject): readonly ManagedFields[] {
  return (metadata.managedFields ?? []).filter(
    (entry) => entry.subresource !== 'status' && !isApplyOfSync(entry),
  );
}

/** `fields` is a tree as in `{"f:data": {"f:key": {}}}`. Fields and items that git does not set do not count. */
function ownsDifference(fields: unknown, desired: unknown, live: unknown): boolean {
  if (!isRecord(fields)) return false;
  return Object.entries(fields).some(([step, inner]) => {
    const [wanted, found] = [valueOf(step, desired), valueOf(step, live)];
    if (wanted === undefined) return false;
    const isLeaf = isRecord(inner) && Object.keys(inner).length === 0;
    return isLeaf ? !matchesValue(wanted, found) : ownsDifference(inner, wanted, found);
  });
}

/** `f:` names a field, `k:` the keys of an item of a list. Other steps own a list as a whole, or a single value of a set. */
function valueOf(step: string, parent: unknown): unknown {
  const rest = step.slice(2);
  if (step.startsWith('f:')) return fieldOf(parent, rest);
  return step.startsWith('k:') && Array.isArray(parent) ? itemWith(rest, parent) : undefined;
}

function fieldOf(parent: unknown, name: string): unknown {
  return isRecord(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined;
}

function itemWith(keysJson: string, items: readonly unknown[]): unknown {
  const keys = parse(keysJson);
  if (!isRecord(keys)) return undefined;
  return items.find(
    (item) =>
      isRecord(item) &&
      Object.entries(keys).every(([key, value]) => item[key] === undefined || item[key] === value),
  );
}

/** A server that sends something else is not trusted with more than its own answer. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
