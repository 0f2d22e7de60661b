/** The entries of a Machine that this controller applies: always its whole list, merged over all sets. Pure. */
import type { ComponentGrant, Machine, MachineComponentEntry } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { pinnedComponents } from './pins.ts';

/** An entry as an apply contains it. Of a pin it contains only the grant, because only that is ours. */
export type AppliedEntry = MachineComponentEntry | Pick<MachineComponentEntry, 'name' | 'grant'>;

/**
 * Merges changed entries into the list of a Machine. Entries of other sets, and of sets that no longer select the machine, stay,
 * as do the grants of pins: what an apply leaves out is removed. The content of a pin is never applied, so that its owner can
 * change and remove it.
 */
export function mergeEntries(
  machine: Machine,
  changed: readonly MachineComponentEntry[],
): readonly AppliedEntry[] {
  const pinned = pinnedComponents(machine);
  const own = [...machine.spec.components, ...changed].filter(({ name }) => !pinned.has(name));
  return inOrder(
    own,
    pinsWith(machine, pinned, ({ grant }) => grant),
  );
}

/** Returns the same list with the grants of pins replaced by these, by name. */
export function mergePinGrants(
  machine: Machine,
  grants: ReadonlyMap<string, ComponentGrant>,
): readonly AppliedEntry[] {
  const pinned = pinnedComponents(machine);
  const own = machine.spec.components.filter(({ name }) => !pinned.has(name));
  return inOrder(
    own,
    pinsWith(machine, pinned, ({ name }) => grants.get(name)),
  );
}

function pinsWith(
  { spec }: Machine,
  pinned: ReadonlySet<string>,
  grantOf: (entry: MachineComponentEntry) => ComponentGrant | undefined,
): readonly AppliedEntry[] {
  return spec.components.flatMap((entry) => {
    const grant = pinned.has(entry.name) ? grantOf(entry) : undefined;
    return grant ? [{ name: entry.name, grant }] : [];
  });
}

/**
 * Sorts entries by name, but leaves pins in the order of the Machine, which is that of their owner: an apply orders the list, and with another
 * order the two writers would change the Machine in turns, although neither changes an entry.
 */
function inOrder(
  own: readonly MachineComponentEntry[],
  pins: readonly AppliedEntry[],
): readonly AppliedEntry[] {
  const names = new Set(pins.map(({ name }) => name));
  const left = [...pins];
  return byName([...own, ...pins]).map((entry) => (names.has(entry.name) ? (left.shift() ?? entry) : entry));
}

/** Sorts entries by name. Of several with one name, the last one counts. */
function byName(entries: readonly AppliedEntry[]): readonly AppliedEntry[] {
  const last = new Map(entries.map((entry) => [entry.name, entry]));
  return [...last.values()].toSorted((a, b) => byCode(a.name, b.name));
}
