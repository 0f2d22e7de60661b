/** Decides what a set does with its machines now: exactly as many as desired, and one less because of a new template only with Replace. Pure. */
import type { Machine, MachineSet } from '../../api/generated/types.ts';
import { LABEL_MACHINESET } from '../../api/names.ts';
import type { MachineSetAction, MachineSetPlan } from './actions.ts';
import { type Member, memberOf, type SetMachine } from './members.ts';
import { setMembership } from './ownership.ts';
import { MAX_WRITES } from './scaling/creation.ts';
import type { Replacement } from './scaling/replacement.ts';
import { isDeletedSet, planScaling } from './scaling/scaling.ts';
import { stormOf } from './storm-guard.ts';

export interface MachineSetInput {
  readonly set: MachineSet;
  /** All Machines of the cluster: a name that another one has is not free. */
  readonly machines: readonly SetMachine[];
  /** Further names that are not free. */
  readonly taken?: readonly string[];
  readonly now: Date;
}

export function planMachineSet(input: MachineSetInput): MachineSetPlan {
  const { set, now } = input;
  const sorted = input.machines.toSorted((a, b) =>
    a.machine.metadata.name < b.machine.metadata.name ? -1 : 1,
  );
  const ownership = sorted.flatMap((observed) => ownershipAction(set, observed.machine) ?? []);
  const members = sorted
    .filter(({ machine }) => isCounted(set, machine))
    .map((observed) => memberOf(set, observed, now));
  const storm = stormOf(set, members, now);
  // Who belongs to the set is written first: the writes start another reconcile.
  const taken = new Set([...sorted.map(({ machine }) => machine.metadata.name), ...(input.taken ?? [])]);
  const updates = ownership.length > 0 ? [] : planUpdates(set, members);
  const isUpdating = updates.length > 0;
  const scaling: Replacement =
    ownership.length > 0 ? { actions: ownership } : planScaling({ set, members, taken, storm, isUpdating });
  return {
    actions: [...scaling.actions, ...updates],
    members,
    ...(storm ? { storm } : {}),
    ...(scaling.wait ? { wait: scaling.wait } : {}),
    ...(scaling.replacement ? { replacement: scaling.replacement } : {}),
    isFinished: isDeletedSet(set) && members.length === 0,
  };
}

function ownershipAction(set: MachineSet, machine: Machine): MachineSetAction | undefined {
  const { name, deletionTimestamp } = machine.metadata;
  const membership = setMembership(set, machine);
  if (membership === 'Released') {
    return { type: 'Release', name, machine, because: `its label ${LABEL_MACHINESET} was changed` };
  }
  if (membership !== 'Orphan' || isDeletedSet(set) || deletionTimestamp !== undefined) return undefined;
  return { type: 'Adopt', name, machine, because: `its label ${LABEL_MACHINESET} names this set` };
}

function isCounted(set: MachineSet, machine: Machine): boolean {
  const membership = setMembership(set, machine);
  return membership === 'Member' || (membership === 'Orphan' && !isDeletedSet(set));
}

/**
 * Plans updates in place, also with Replace: a machine that runs keeps its instance where only fields that can be changed on it differ.
 */
function planUpdates(set: MachineSet, members: readonly Member[]): readonly MachineSetAction[] {
  if (set.spec.updateStrategy.type === 'OnDelete' || set.spec.paused || isDeletedSet(set)) return [];
  return members
    .filter(({ isDeleting, hold }) => !isDeleting && hold?.scope !== 'All')
    .filter(({ differences }) => differences.inPlace.length > 0)
    .slice(0, MAX_WRITES)
    .map(({ name, machine, differences }) => ({
      type: 'Update',
      name,
      machine,
      because: `${differences.inPlace.join(', ')} differ from the template`,
    }));
}
