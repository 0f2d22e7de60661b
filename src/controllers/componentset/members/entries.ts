/** The entries of a Machine that this controller applies: always its whole list, merged over all sets. Pure. */
import type { ComponentGrant, Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { pinnedComponents } from './pins.ts';

/** Of a pin only its grant is ours. */
export type AppliedEntry = MachineComponentEntry | Pick<MachineComponentEntry, 'name' | 'grant'>;

/**
 * Entries of other sets, and of sets that no longer select the machine, stay, as do the grants of pins: what an apply leaves out is
 * removed. The content of a pin is never applied, so that its owner can change and remove it.
 */
export function mergeEntries(
  machine: Machine,
  changed: readonly MachineComponentEntry[],
): readonly AppliedEntry[] {
  const pinned = pinnedComponents(machine);
  const own = changed.filter(({ name }) => !pinned.has(name));
  const entries = new Map<string, AppliedEntry>();
  for (const entry of machine.spec.components) {
    if (!pinned.has(entry.name)) entries.set(entry.name, entry);
    else if (entry.grant) entries.set(entry.name, { name: entry.name, grant: entry.grant });
  }
  for (const entry of own) entries.set(entry.name, entry);
  return sorted(entries.values());
}

/** The same list with the grants of pins replaced by these, by name. */
export function mergePinGrants(
  machine: Machine,
  grants: ReadonlyMap<string, ComponentGrant>,
): readonly AppliedEntry[] {
  const pinned = pinnedComponents(machine);
  const own = mergeEntries(machine, []).filter(({ name }) => !pinned.has(name));
  return sorted([...own, ...[...grants].map(([name, grant]) => ({ name, grant }))]);
}

function sorted(entries: Iterable<AppliedEntry>): readonly AppliedEntry[] {
  return [...entries].toSorted((a, b) => byCode(a.name, b.name));
}
