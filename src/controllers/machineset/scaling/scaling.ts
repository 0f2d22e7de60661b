/** Decides which machines a set creates and deletes. Pure. */
import type { MachineSet } from '../../../api/generated/types.ts';
import type { SetWait } from '../actions.ts';
import type { Member } from '../members.ts';
import type { StormFinding } from '../storm-guard.ts';
import { planCreates } from './creation.ts';
import { type DeletionCandidate, deletionOf, inDeletionOrder } from './deletion-order.ts';
import { findReplacing, planReplacement, type Replacement } from './replacement.ts';

/**
 * The most machines that one plan deletes, which is one ask of the Defender. It has its own limits; this one bounds what one
 * stale decision can cost.
 */
const MAX_DELETES = 20;

export interface ScalingInput {
  readonly set: MachineSet;
  readonly members: readonly Member[];
  /** The names of all Machines, and further names that are not free. */
  readonly taken: ReadonlySet<string>;
  readonly storm: StormFinding | undefined;
  /** Whether machines are updated in place now: what only another machine can have comes after it. */
  readonly isUpdating: boolean;
}

export function planScaling(input: ScalingInput): Replacement {
  const { set, storm } = input;
  if (isPaused(set)) return waiting({ reason: 'Paused', message: 'spec.paused is true' });
  const plan = nextChange(input);
  if (!plan) return { actions: [] };
  return storm ? waiting(stormWait(storm)) : plan();
}

/** Returns what plans the next change. The count comes first; while machines are replaced there may be more of them. */
function nextChange(input: ScalingInput): (() => Replacement) | undefined {
  const { set, members, taken, isUpdating } = input;
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const missing = desiredCount(set) - live.length;
  if (missing > 0) return () => planMissing(input, missing);
  const replacing = findReplacing(set, live);
  const surplus = -missing - (replacing?.surge ?? 0);
  if (surplus > 0) return () => planDeletes(set, live, surplus);
  const failed = failedStart(members);
  if (failed) return () => ({ actions: [deletionOf(failed)] });
  if (!replacing || isUpdating) return undefined;
  return () => planReplacement({ set, members, taken, replacing });
}

function planMissing({ set, members, taken }: ScalingInput, missing: number): Replacement {
  const { replicas } = set.spec;
  const because = `${replicas - missing} of ${replicas} machines exist`;
  return planCreates({ set, members, taken, missing, surge: 0, replaced: [], because });
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

function waiting(wait: SetWait): Replacement {
  return { actions: [], wait };
}

function stormWait({ because, until }: StormFinding): SetWait {
  const message = `${because}. To act all the same, raise spec.stormGuard`;
  return { reason: 'StormGuardActive', message, ...(until ? { until } : {}) };
}

function planDeletes(set: MachineSet, live: readonly Member[], surplus: number): Replacement {
  const { metadata, spec } = set;
  const free = live.filter(({ hold }) => hold === undefined);
  const why = isDeletedSet(set)
    ? `MachineSet ${metadata.name} is deleted`
    : `${live.length} machines exist, ${spec.replicas} are desired`;
  const chosen = inDeletionOrder(free, spec.deletionOrder).slice(0, Math.min(surplus, MAX_DELETES));
  const actions = chosen.map(({ member, because }: DeletionCandidate) =>
    deletionOf({ member, because: `${why}: ${because}` }),
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
  if (members.some(({ isDeleting, isKept }) => isDeleting && !isKept)) return undefined;
  const member = members.find(({ hasFailedToStart, hold }) => hasFailedToStart && hold === undefined);
  return member && { member, because: 'it was not Ready within spec.startupTimeoutSeconds' };
}
