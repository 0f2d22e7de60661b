/** Decides which machines a set creates and deletes. Pure. */
import type { MachineSet } from '../../api/generated/types.ts';
import type { MachineSetAction, SetWait } from './actions.ts';
import { type DeletionCandidate, inDeletionOrder } from './deletion-order.ts';
import type { Member } from './members.ts';
import { freeNames } from './names.ts';
import type { StormFinding } from './storm-guard.ts';

/** The most machines that one plan writes. With 50 writes a second this is one second; then the plan is made again. */
export const MAX_WRITES = 50;
/**
 * The most machines that one plan deletes, which is one ask of the Defender. It has its own limits; this one bounds what one
 * stale decision can cost.
 */
const MAX_DELETES = 20;

export interface Scaling {
  readonly actions: readonly MachineSetAction[];
  readonly wait?: SetWait;
}

export interface ScalingInput {
  readonly set: MachineSet;
  readonly members: readonly Member[];
  /** The names of all Machines, and further names that are not free. */
  readonly taken: ReadonlySet<string>;
  readonly storm: StormFinding | undefined;
}

export function planScaling(input: ScalingInput): Scaling {
  const { set, members, storm } = input;
  const desired = desiredCount(set);
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const failed = live.length === desired ? failedStart(members) : undefined;
  if (isPaused(set)) return waiting({ reason: 'Paused', message: 'spec.paused is true' });
  if (live.length === desired && !failed) return { actions: [] };
  if (storm) return waiting(stormWait(storm));
  if (live.length < desired) return planCreates(input, desired - live.length);
  return failed ? { actions: [deletion(failed)] } : planDeletes(set, live, live.length - desired);
}

export function isDeletedSet({ metadata }: MachineSet): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function desiredCount(set: MachineSet): number {
  return isDeletedSet(set) ? 0 : set.spec.replicas;
}

/** Tells whether the set may not scale because it is paused. A set that a person deletes deletes its machines, paused or not. */
function isPaused(set: MachineSet): boolean {
  return set.spec.paused && !isDeletedSet(set);
}

function waiting(wait: SetWait): Scaling {
  return { actions: [], wait };
}

function stormWait({ because, until }: StormFinding): SetWait {
  const message = `${because}. To act all the same, raise spec.stormGuard`;
  return { reason: 'StormGuardActive', message, ...(until ? { until } : {}) };
}

function planCreates({ set, members, taken }: ScalingInput, missing: number): Scaling {
  const { replicas, stormGuard } = set.spec;
  const leaving = members.filter(({ isDeleting }) => isDeleting);
  const room = replicas + stormGuard.overshoot - members.length;
  const count = Math.min(missing, room, MAX_WRITES);
  if (count <= 0) {
    const message = `${leaving.length} machines are still being deleted, and at most ${stormGuard.overshoot} may exist above replicas`;
    const [first] = leaving;
    return waiting({
      reason: 'Overshoot',
      message,
      ...(first ? { blocker: { kind: 'Machine', name: first.name } } : {}),
    });
  }
  const names = freeNames(set.metadata, taken, count);
  const zones = zonesFor(set.spec.zones, members, count);
  const because = `${replicas - missing} of ${replicas} machines exist`;
  return { actions: names.map((name, index) => ({ type: 'Create', name, zone: zones[index], because })) };
}

/** Returns the zone of each new machine: the one that has the fewest, in the order of the list where several have. */
function zonesFor(
  zones: readonly string[],
  members: readonly Member[],
  count: number,
): readonly (string | undefined)[] {
  const counts = zones.map((name) => ({
    name,
    machines: members.filter(({ zone, isDeleting }) => zone === name && !isDeleting).length,
  }));
  return Array.from({ length: count }, () => {
    const fewest = counts.toSorted((a, b) => a.machines - b.machines)[0];
    if (fewest) fewest.machines += 1;
    return fewest?.name;
  });
}

function planDeletes(set: MachineSet, live: readonly Member[], surplus: number): Scaling {
  const { metadata, spec } = set;
  const free = live.filter(({ hold }) => hold === undefined);
  const why = isDeletedSet(set)
    ? `MachineSet ${metadata.name} is deleted`
    : `${live.length} machines exist, ${spec.replicas} are desired`;
  const chosen = inDeletionOrder(free, spec.deletionOrder).slice(0, Math.min(surplus, MAX_DELETES));
  const actions = chosen.map(({ member, because }: DeletionCandidate) =>
    deletion({ member, because: `${why}: ${because}` }),
  );
  const held = live.filter(({ hold }) => hold !== undefined);
  return free.length >= surplus ? { actions } : { actions, wait: heldWait(held) };
}

function heldWait(held: readonly Member[]): SetWait {
  const names = held.slice(0, 5).map(({ name, hold }) => `${name} (${hold?.reason})`);
  const ends = held.flatMap(({ hold }) => (hold?.until === undefined ? [] : Date.parse(hold.until)));
  const [first] = held;
  return {
    reason: 'MachinesHeld',
    message: `held machines are not deleted: ${names.join(', ')}${held.length > 5 ? ', …' : ''}`,
    ...(first ? { blocker: { kind: 'Machine', name: first.name } } : {}),
    ...(ends.length > 0 ? { until: new Date(Math.min(...ends)) } : {}),
  };
}

/** Returns a machine to delete that failed to start. They go one at a time: none, while a machine of the set is being deleted. */
function failedStart(members: readonly Member[]): DeletionCandidate | undefined {
  if (members.some(({ isDeleting }) => isDeleting)) return undefined;
  const member = members.find(({ hasFailedToStart, hold }) => hasFailedToStart && hold === undefined);
  return member && { member, because: 'it was not Ready within spec.startupTimeoutSeconds' };
}

function deletion({ member, because }: DeletionCandidate): MachineSetAction {
  const { name, machine, node } = member;
  const uid = node?.metadata.uid;
  return { type: 'Delete', name, machine, because, ...(uid === undefined ? {} : { node: uid }) };
}
