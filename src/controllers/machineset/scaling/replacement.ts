/**
 * Decides which machines a set replaces: those that only another machine can bring to the template, with the strategy Replace, and those
 * that a job or a person has marked. Every act is shown in `status.plannedAction` by a reconcile before it. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MachineSet } from '../../../api/generated/types.ts';
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import type { MachineSetAction, PlannedReplacement, SetWait } from '../actions.ts';
import { differingFieldsOf, type Member, markInForce } from '../members.ts';
import { planCreates } from './creation.ts';
import { type DeletionCandidate, deletionOf, inDeletionOrder, NOT_UP_TO_DATE } from './deletion-order.ts';

export interface Replacing {
  readonly marked: readonly DeletionCandidate[];
  readonly outdated: readonly DeletionCandidate[];
  /** The machines that may exist above `replicas` meanwhile. */
  readonly surge: number;
}

export interface SetReplacementInput {
  readonly set: MachineSet;
  readonly members: readonly Member[];
  readonly taken: ReadonlySet<string>;
  readonly replacing: Replacing;
}

export interface Replacement {
  readonly actions: readonly MachineSetAction[];
  readonly wait?: SetWait;
  readonly replacement?: PlannedReplacement;
}

/** As many names as the status shows: what is not shown is not done. */
const MOST_AT_ONCE = 20;

/** Returns undefined when no machine is to be replaced. A held machine never is, nor one that came back after a job had marked it. */
export function findReplacing(set: MachineSet, live: readonly Member[]): Replacing | undefined {
  if (set.metadata.deletionTimestamp !== undefined) return undefined;
  const { updateStrategy, replicas, deletionOrder } = set.spec;
  const free = inDeletionOrder(
    live.filter(({ hold }) => hold === undefined),
    deletionOrder,
  );
  const marked = free.flatMap(markedTarget);
  const isReplace = updateStrategy.type === 'Replace';
  const outdated = isReplace ? free.filter(({ member }) => isOutdated(member)).map(outdatedTarget) : [];
  if (marked.length + outdated.length === 0) return undefined;
  const isFirst = marked.some(isReplacementFirst);
  const surge = Math.min(resolveIntOrPercent(updateStrategy.maxSurge ?? 0, replicas), outdated.length);
  return { marked, outdated, surge: surge + (isFirst ? 1 : 0) };
}

function markedTarget({ member }: DeletionCandidate): readonly DeletionCandidate[] {
  const mark = markInForce(member);
  return mark ? [{ member, because: mark.because }] : [];
}

export function isOutdated({ differences, mark }: Member): boolean {
  return mark === undefined && differences.replacement.length > 0;
}

function outdatedTarget({ member, because }: DeletionCandidate): DeletionCandidate {
  const text = `only another machine gets the new ${member.differences.replacement.join(', ')}`;
  return { member, because: because === NOT_UP_TO_DATE ? text : `${text}: ${because}` };
}

function isReplacementFirst({ member: { mark } }: DeletionCandidate): boolean {
  return mark?.isReplacementFirst === true;
}

/** Plans the next acts of a set that has all its machines, and no more than it may. */
export function planReplacement(input: SetReplacementInput): Replacement {
  const { replacing, members } = input;
  const first = replacing.marked.find(isReplacementFirst);
  const direct = replacing.marked.filter((target) => !isReplacementFirst(target)).slice(0, MOST_AT_ONCE - 1);
  const rest = first ? planMarkedFirst(input, first) : planOutdated(input, direct.length > 0);
  const targets = [...direct, ...rest.targets];
  const [shown] = targets;
  if (!shown) return { actions: [], ...(rest.wait ? { wait: rest.wait } : {}) };
  const fields = differingFieldsOf(members);
  const names = targets.map(({ member }) => member.name);
  const isAnnounced = wasAnnounced(input.set, names, fields);
  const replacement = { names, because: rest.waitsFor ?? shown.because, isAnnounced };
  if (!isAnnounced) return { actions: [], replacement };
  const { wait } = rest;
  return { actions: [...direct.map(deletionOf), ...rest.actions], replacement, ...(wait ? { wait } : {}) };
}

function wasAnnounced({ status }: MachineSet, names: readonly string[], fields: readonly string[]): boolean {
  const { type, names: shown = [], fields: shownFields = [] } = status?.plannedAction ?? {};
  return (
    type === 'Replace' &&
    names.every((name) => shown.includes(name)) &&
    isDeepStrictEqual(shownFields, fields)
  );
}

interface TargetPlan {
  /** The machines that are replaced now. */
  readonly targets: readonly DeletionCandidate[];
  readonly actions: readonly MachineSetAction[];
  /** It names what has to happen before the next act. */
  readonly waitsFor?: string;
  readonly wait?: SetWait;
}

/** Replaces one marked machine after its replacement is available. Others that are ill do not keep it: they were before. */
function planMarkedFirst(input: SetReplacementInput, target: DeletionCandidate): TargetPlan {
  const { set, members } = input;
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const starting = live.filter((member) => member !== target.member && isStarting(member));
  if (live.length - starting.length > set.spec.replicas) {
    return { targets: [target], actions: [deletionOf(target)] };
  }
  return planSurge(input, [target], starting);
}

/** Tells whether a machine is new, or Ready for too short a time. */
function isStarting({ unavailable, isReady, isEstablished }: Member): boolean {
  return unavailable !== undefined && (isReady || !isEstablished);
}

/**
 * Replaces machines that differ from the template. With a surge a machine goes only after another one is available in its place; without
 * one, as many as may be unavailable. A replacement that is not available counts in both cases, so that a bad template stops here.
 */
function planOutdated(input: SetReplacementInput, isBusy: boolean): TargetPlan {
  const { set, members, replacing } = input;
  const { maxUnavailable } = set.spec.updateStrategy;
  const { outdated, surge: most } = replacing;
  if (isBusy || outdated.length === 0) return { targets: [], actions: [] };
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const others = live.filter((member) => !outdated.some((target) => target.member === member));
  const waitFor = others.filter(isUnavailable);
  const failed = others.find(({ hasFailedToStart }) => hasFailedToStart);
  if (failed) return { targets: [], actions: [], wait: failedWait(failed) };
  const tolerated = resolveIntOrPercent(maxUnavailable, set.spec.replicas);
  const targets = outdated.slice(0, Math.min(most > 0 ? most : tolerated, MOST_AT_ONCE));
  const least = set.spec.replicas - tolerated;
  const deletes = deletable(targets, {
    places: live.length - waitFor.length - (most > 0 ? set.spec.replicas : least),
    spare: live.filter((member) => !isUnavailable(member)).length - least,
  });
  if (deletes.length > 0) return { targets, actions: deletes.map(deletionOf) };
  return most > 0 ? planSurge(input, targets, waitFor) : { targets, actions: [], waitsFor: textOf(waitFor) };
}

/** Returns the targets whose deletion leaves enough machines, and enough that are available. */
function deletable(
  targets: readonly DeletionCandidate[],
  limits: { readonly places: number; readonly spare: number },
): readonly DeletionCandidate[] {
  let { places, spare } = limits;
  return targets.filter(({ member }) => {
    const isServing = !isUnavailable(member);
    if (places < 1 || (isServing && spare < 1)) return false;
    places -= 1;
    if (isServing) spare -= 1;
    return true;
  });
}

function isUnavailable({ unavailable }: Member): boolean {
  return unavailable !== undefined;
}

/** Creates replacements beyond `replicas`, and then waits until they are available. */
function planSurge(
  input: SetReplacementInput,
  targets: readonly DeletionCandidate[],
  waitFor: readonly Member[],
): TargetPlan {
  const { set, members, taken, replacing } = input;
  const live = members.filter(({ isDeleting }) => !isDeleting);
  const missing = Math.min(set.spec.replicas + replacing.surge - live.length, targets.length);
  if (missing <= 0) return { targets, actions: [], waitsFor: textOf(waitFor) };
  const [first] = targets;
  const replaced = targets.map(({ member }) => member);
  const because = `it replaces ${first?.member.name ?? ''}: ${first?.because ?? ''}`;
  const plan = planCreates({ set, members, taken, missing, surge: replacing.surge, replaced, because });
  return { targets, ...plan };
}

function textOf(waitFor: readonly Member[]): string {
  const [first] = waitFor;
  if (!first) return 'waits until enough machines are available';
  return `waits for ${first.name}: ${first.unavailable}`;
}

function failedWait({ name, machine: { spec } }: Member): SetWait {
  const held = spec.hold ? ', and it is held' : '';
  return {
    reason: 'ReplacementFailing',
    message: `no further machine is replaced: ${name} was not Ready within spec.startupTimeoutSeconds${held}. Change the template, or delete the machine`,
    blocker: { kind: 'Machine', name },
  };
}
