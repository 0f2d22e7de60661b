/** Owners of entries of Machine.spec.components, as the API server records them. */
import { MANAGER_COMPONENTSET } from '../../../src/api/names.ts';
import type { ManagedFields } from '../../../src/kube/objects/object.ts';

/** That manager owns one field of each of these entries. */
export function entriesOwnedBy(
  manager: string,
  names: readonly string[],
  field = 'f:componentRef',
): ManagedFields {
  const entries: Record<string, unknown> = {};
  for (const name of names) entries[`k:{"name":"${name}"}`] = { '.': {}, [field]: {} };
  return { manager, operation: 'Apply', fieldsV1: { 'f:spec': { 'f:components': entries } } };
}

export function ownEntries(...names: readonly string[]): ManagedFields {
  return entriesOwnedBy(MANAGER_COMPONENTSET, names);
}
