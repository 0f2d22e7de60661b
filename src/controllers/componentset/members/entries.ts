/** The entries of a Machine that this controller applies: always its whole list, merged over all sets. Pure. */
import type { Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { pinnedComponents } from './pins.ts';

/**
 * Entries of other sets, and of sets that no longer select the machine, stay: what an apply leaves out is removed. Pins are never
 * applied, so that each can be removed by its owner.
 */
export function mergeEntries(
  machine: Machine,
  changed: readonly MachineComponentEntry[],
): readonly MachineComponentEntry[] {
  const pinned = pinnedComponents(machine);
  const entries = new Map(machine.spec.components.map((entry) => [entry.name, entry]));
  for (const entry of changed) entries.set(entry.name, entry);
  return [...entries.values()]
    .filter(({ name }) => !pinned.has(name))
    .toSorted((a, b) => byCode(a.name, b.name));
}
