/** Which machines a set acts on. Pure. */
import type { Machine, MachineComponentSet } from '../../../api/generated/types.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import type { Explanation } from '../../../rollout/explanation.ts';

export interface Membership {
  /** Selected, and no other set names one of its components there. In the order of the machines. */
  readonly members: readonly Machine[];
  /** Selected, but neither this set nor the other one acts on it. */
  readonly conflicts: readonly MachineConflict[];
  /** No longer acted on, with entries of this set: they stay as they are. */
  readonly left: readonly Machine[];
}

export interface MachineConflict {
  readonly machine: Machine;
  readonly conflict: Explanation;
}

/** A set that is being deleted selects nothing and conflicts with no other, and a machine that is being deleted leaves its sets. */
export function membershipOf(
  set: MachineComponentSet,
  sets: readonly MachineComponentSet[],
  machines: readonly Machine[],
): Membership {
  const rivals = rivalsOf(set, sets);
  const members: Machine[] = [];
  const conflicts: MachineConflict[] = [];
  const left: Machine[] = [];
  for (const machine of machines) {
    const conflict = selects(set, machine) ? findConflict(set, rivals, machine) : undefined;
    if (conflict) conflicts.push({ machine, conflict });
    else if (selects(set, machine)) members.push(machine);
    else if (hasEntryOf(set, machine)) left.push(machine);
  }
  return { members, conflicts, left };
}

interface Rival {
  readonly set: MachineComponentSet;
  /** The first component that both name. */
  readonly component: string;
}

function rivalsOf(
  { metadata: { name }, spec: { components } }: MachineComponentSet,
  sets: readonly MachineComponentSet[],
): readonly Rival[] {
  const names = new Set(components.map((component) => component.name));
  return sets.flatMap((set) => {
    const shared = set.spec.components.find((component) => names.has(component.name));
    return shared && set.metadata.name !== name ? [{ set, component: shared.name }] : [];
  });
}

function findConflict(
  { metadata: { name } }: MachineComponentSet,
  rivals: readonly Rival[],
  machine: Machine,
): Explanation | undefined {
  const rival = rivals.find(({ set }) => selects(set, machine));
  if (!rival) return undefined;
  const other = rival.set.metadata.name;
  return {
    reason: 'SetConflict',
    because:
      `sets ${name} and ${other} both select machine ${machine.metadata.name} and name component ` +
      `${rival.component}: change a selector, or remove the component from one of them`,
    blocker: { kind: 'MachineComponentSet', name: other },
  };
}

function selects({ spec, metadata }: MachineComponentSet, machine: Machine): boolean {
  const isDeleting = [metadata, machine.metadata].some((each) => each.deletionTimestamp !== undefined);
  return !isDeleting && isSelected(spec.machineSelector, machine.metadata.labels ?? {});
}

function hasEntryOf({ metadata: { name } }: MachineComponentSet, { spec }: Machine): boolean {
  return spec.components.some(({ assignment }) => assignment?.set === name);
}
