/** Decides how many machines a set creates now, and in which zones. Pure. */
import type { MachineSet } from '../../../api/generated/types.ts';
import type { MachineSetAction, SetWait } from '../actions.ts';
import type { Member } from '../members.ts';
import { freeNames } from '../names.ts';

/** The most machines that one plan writes. With 50 writes a second this is one second; then the plan is made again. */
export const MAX_WRITES = 50;

export interface Creation {
  readonly set: MachineSet;
  readonly members: readonly Member[];
  /** The names of all Machines, and further names that are not free. */
  readonly taken: ReadonlySet<string>;
  readonly missing: number;
  /** The machines that may exist above `replicas` by the update strategy. */
  readonly surge: number;
  /** Machines that are about to be deleted: new ones come to their zones. */
  readonly replaced: readonly Member[];
  readonly because: string;
}

export interface CreationPlan {
  readonly actions: readonly MachineSetAction[];
  readonly wait?: SetWait;
}

export function planCreates(creation: Creation): CreationPlan {
  const { set, members, taken, missing, replaced, because } = creation;
  const most = Math.max(set.spec.stormGuard.overshoot, creation.surge);
  const existing = members.filter(({ isKept }) => !isKept);
  const room = set.spec.replicas + most - existing.length;
  const count = Math.min(missing, room, MAX_WRITES);
  if (count <= 0) return { actions: [], wait: overshootWait(existing, most) };
  const names = freeNames(set.metadata, taken, count);
  const staying = members.filter((member) => !member.isDeleting && !replaced.includes(member));
  const zones = zonesFor(set.spec.zones, staying, count);
  return { actions: names.map((name, index) => ({ type: 'Create', name, zone: zones[index], because })) };
}

function overshootWait(members: readonly Member[], most: number): SetWait {
  const leaving = members.filter(({ isDeleting }) => isDeleting);
  const [first] = leaving;
  const message = `${leaving.length} machines are still being deleted, and at most ${most} may exist above replicas`;
  const blocker = first ? { blocker: { kind: 'Machine', name: first.name } } : {};
  return { reason: 'Overshoot', message, ...blocker };
}

/** Returns the zone of each new machine: the one that has the fewest, in the order of the list where several have. */
function zonesFor(
  zones: readonly string[],
  staying: readonly Member[],
  count: number,
): readonly (string | undefined)[] {
  const counts = zones.map((name) => ({
    name,
    machines: staying.filter(({ zone }) => zone === name).length,
  }));
  return Array.from({ length: count }, () => {
    const fewest = counts.toSorted((a, b) => a.machines - b.machines)[0];
    if (fewest) fewest.machines += 1;
    return fewest?.name;
  });
}
