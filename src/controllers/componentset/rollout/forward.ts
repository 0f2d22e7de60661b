/** Rolls a revision out in batches, each one proven before the next; or back to a proven one, without soak. Pure. */

import { versionsText } from '../../../api/machine/versions-text.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { type Limit, tightestLimit } from '../../../rollout/limit.ts';
import { setClosedLimit } from '../closed-times.ts';
import { loosenedGateLimit } from '../gate-in-force.ts';
import { isAvailable, type MemberState } from '../machine/member-state.ts';
import { inOrder } from '../order.ts';
import { addRecord, recordFor } from '../revision/history.ts';
import type { Revision } from '../revision/resolve.ts';
import { approvalReason } from './approval.ts';
import { batchPhase, settling, startedIn, unsettled, withSoak } from './batch-phase.ts';
import { type PartitionLimit, partitionLimit } from './choice/partition.ts';
import { representativesFirst } from './choice/representatives.ts';
import type { SpreadUse } from './choice/spread.ts';
import { proofWait } from './failure/proof.ts';
import type {
  OpenBatch,
  Permission,
  RolloutAction,
  RolloutInput,
  RolloutMode,
  RolloutProgress,
} from './input.ts';
import { canariesOf, countEarlier, hasCanary, mayBeIn, nextBatch } from './next-batch.ts';
import { permissionFor } from './permission.ts';
import { pickMembers } from './slots.ts';
import { isPinned, startWait } from './start-wait.ts';

export interface RolloutStep {
  readonly progress: RolloutProgress;
  readonly actions: readonly RolloutAction[];
  readonly limit: Limit;
}

export interface BatchContext {
  readonly mode: RolloutMode;
  readonly revision: Revision;
  /** Machines that are given a revision outside of the batches now. */
  readonly joining: ReadonlySet<string>;
  /** How many more machines that serve may be taken out of service. */
  readonly availability: Limit;
  /** The machines in work by domain. Undefined: domains do not limit. */
  readonly spread?: SpreadUse | undefined;
}

export function planBatches(
  input: RolloutInput,
  progress: RolloutProgress,
  context: BatchContext,
): RolloutStep {
  const todo = todoOf(input, context);
  const ready = todo.filter(
    (member) => !startWait(member, context.revision, permissionOf(input, context, member)),
  );
  const own = (index: number | undefined): readonly MemberState[] =>
    ready.filter((each) => mayBeIn(input, index, each));
  const partition = partitionLimit(input, context);
  const phase = batchPhase(input, progress, {
    canStart: partition.slots > 0 && own(progress.batch?.index).length > 0,
    mode: context.mode,
  });
  const soaked = withSoak(input, progress, phase);
  // A soak of 0 seconds is over at once.
  const after =
    soaked === progress ? phase : batchPhase(input, soaked, { canStart: false, mode: context.mode });
  if (phase.phase === 'Filling') {
    const held = heldBack(input, soaked, context.mode);
    if (held) return { progress: soaked, actions: [], limit: held };
    return fill(input, soaked, context, { candidates: own(progress.batch?.index), partition });
  }
  if (after.phase !== 'Passed') return { progress: soaked, actions: [], limit: stop(after as Explanation) };
  return next(input, soaked, context, { todo, own, partition });
}

interface Candidates {
  readonly todo: readonly MemberState[];
  readonly own: (index: number | undefined) => readonly MemberState[];
  readonly partition: PartitionLimit;
}

/** Opens the next batch after one that has passed, or ends the rollout. */
function next(
  input: RolloutInput,
  progress: RolloutProgress,
  context: BatchContext,
  { todo, own, partition }: Candidates,
): RolloutStep {
  const earlier = countEarlier(input, context.revision, context.mode);
  const batch = nextBatch(input, progress.batch, { todo, earlier, slots: partition.slots });
  if (!batch && partition.kept > 0) return { progress, actions: [], limit: stop(partition) };
  if (!batch) return complete(input, progress, context);
  const wait = forwardWait(input, progress, context, canariesOf(input, { todo, earlier }));
  const limit = wait ? stop(wait) : heldBack(input, progress, context.mode);
  if (limit) return { progress, actions: [], limit };
  const candidates = own(batch.index);
  if (candidates.length === 0 && batch.earlier === 0) {
    return { progress, actions: [], limit: stop(firstWait(input, context, todo)) };
  }
  const { index, size, total } = batch;
  const opened = { ...progress, batch: { index, size, total, startedAt: input.now } };
  return fill(input, opened, context, { candidates, partition });
}

/** S36: a closed time, and a gate that the change loosened, stop the next machine. Those in work finish, and a revert is not stopped (ROL-33). */
function heldBack(input: RolloutInput, progress: RolloutProgress, mode: RolloutMode): Limit | undefined {
  if (mode !== 'Forward') return undefined;
  return loosenedGateLimit(input, progress) ?? setClosedLimit(input, progress);
}

/** Returns what has to come before the next batch: a proof, an approval, or a canary that can start. A revert waits for none. */
function forwardWait(
  input: RolloutInput,
  progress: RolloutProgress,
  context: BatchContext,
  canaries: number,
): Explanation | undefined {
  const { mode, revision } = context;
  if (mode !== 'Forward') return undefined;
  const { batch } = progress;
  if (!batch) return canaries === 0 ? canaryWait(input, context) : undefined;
  const isFirst = batch.index === 0 || isWithoutCanary(input, progress, batch);
  const approval = { index: batch.index, isFirst };
  return proofWait(input, progress, batch) ?? approvalReason(input.set.spec.rollout, revision, approval);
}

/**
 * Returns why the canary cannot start. That a person holds it, or that it joins at another revision first, does not let other
 * machines get the version before it.
 */
function canaryWait(input: RolloutInput, context: BatchContext): Explanation | undefined {
  const { revision, joining } = context;
  if (!hasCanary(input)) return undefined;
  const canary = input.members.filter((each) => mayBeIn(input, 0, each) && each.revision !== revision.name);
  const waits = canary.flatMap((member) => {
    const wait = startWait(member, revision, permissionOf(input, context, member));
    return wait ?? (joining.has(member.name) ? joinWait(member) : []);
  });
  // A pin is not waited for: its owner may keep it for ever.
  return waits.find(({ reason }) => reason !== 'Pinned');
}

function joinWait({ name }: MemberState): Explanation {
  const because = `${name}: is a canary that joins first`;
  return { reason: 'CanaryJoins', because, blocker: { kind: 'Machine', name } };
}

/** Tells whether the batch is batch 1 and the first one of the rollout, because no machine of the canary was started. */
function isWithoutCanary(input: RolloutInput, progress: RolloutProgress, batch: OpenBatch): boolean {
  return (
    batch.index === 1 && hasCanary(input) && startedIn(input, progress, { ...batch, index: 0 }).length === 0
  );
}

interface Filling extends Pick<Candidates, 'partition'> {
  readonly candidates: readonly MemberState[];
}

function fill(
  input: RolloutInput,
  progress: RolloutProgress,
  context: BatchContext,
  { candidates, partition }: Filling,
): RolloutStep {
  const { batch } = progress;
  if (!batch) return { progress, actions: [], limit: context.availability };
  const { revision, availability, spread } = context;
  const started = startedIn(input, progress, batch);
  const most = batch.size - started.length;
  const { preferUnhealthy } = input.set.spec.rollout;
  const waiting = membersInOrder(input, candidates, revision.name);
  const ordered = representativesFirst(waiting, { preferUnhealthy, started });
  const rules = { preferUnhealthy, spread };
  const picked = pickMembers(ordered, Math.min(most, partition.slots), availability.slots, rules);
  const { members } = picked;
  const actions = members.map((member): RolloutAction => {
    const permission = permissionOf(input, context, member);
    return {
      type: 'Assign',
      member,
      revision,
      batch: batch.index,
      permission,
      because: `batch ${batch.index + 1}`,
    };
  });
  const full: Limit = {
    slots: most - members.length,
    reason: 'BatchFull',
    because: `batch ${batch.index + 1} is full`,
  };
  const available = {
    ...availability,
    slots: availability.slots - members.filter(isAvailable).length,
  };
  const held = { ...partition, slots: partition.slots - members.length };
  const crowded = picked.spread ? [stop(picked.spread)] : [];
  return { progress, actions, limit: tightestLimit([full, held, available, ...crowded]) };
}

export function membersInOrder(
  { set }: RolloutInput,
  candidates: readonly MemberState[],
  revision: string,
): readonly MemberState[] {
  const waiting = candidates.map((member) => ({ member, uid: member.uid, isAvailable: isAvailable(member) }));
  return inOrder(waiting, revision, set.spec.rollout).map(({ member }) => member);
}

/** Completes the rollout once every machine that takes part is at its end. */
function complete(input: RolloutInput, progress: RolloutProgress, context: BatchContext): RolloutStep {
  const { revision } = context;
  const open = unsettled(input.members.filter((each) => each.revision === revision.name))[0];
  if (open) return { progress, actions: [], limit: stop(settling(open) as Explanation) };
  const { batch: _batch, ...rest } = progress;
  if (isUnproven(input, context)) {
    const versions = versionsText(revision.components);
    const isEmpty = input.members.length === 0;
    const because = isEmpty ? `no machine is selected for ${versions}` : `no host was given ${versions}`;
    return { progress: rest, actions: [], limit: stop({ reason: 'AllDone', because }) };
  }
  const record = recordFor(revision, {
    result: 'Completed',
    finishedAt: input.now.toISOString(),
    ...optional('startedAt', progress.startedAt?.toISOString()),
    ...optional('commit', progress.commit),
  });
  const done = { ...rest, history: addRecord(progress.history, record) };
  return {
    progress: done,
    actions: [],
    limit: stop({ reason: 'AllDone', because: `${versionsText(revision.components)} completed` }),
  };
}

/**
 * Tells whether no machine ran the revision, as after a mistake in the selector, and where every host is adopted and differs. The set is
 * at its end, but machines that return get the revision in batches, and no rollback returns to it. The first revision of a set has none
 * before it that could be kept instead.
 */
function isUnproven({ members, stable }: RolloutInput, { mode }: BatchContext): boolean {
  return mode === 'Forward' && stable !== undefined && members.every(({ step }) => step === 'Differs');
}

/** Returns the machines that are not at the revision, without those that the set skips: pinned, or held before they were started. */
export function todoOf(input: RolloutInput, context: BatchContext): readonly MemberState[] {
  const { revision, joining } = context;
  return input.members.filter((member) => {
    const isOut = joining.has(member.name) || isPinned(member, revision);
    if (isOut || member.revision === revision.name) return false;
    const wait = startWait(member, revision, permissionOf(input, context, member));
    return wait?.reason !== 'Held';
  });
}

function firstWait(input: RolloutInput, context: BatchContext, todo: readonly MemberState[]): Explanation {
  const waits = todo.flatMap(
    (member) => startWait(member, context.revision, permissionOf(input, context, member)) ?? [],
  );
  return waits[0] ?? { reason: 'NoCanary', because: 'no machine of the canary can be started' };
}

function permissionOf(
  input: RolloutInput,
  { mode, revision }: BatchContext,
  member: MemberState,
): Permission {
  return permissionFor(input, member, revision, mode === 'Revert');
}

function stop(because: Explanation): Limit {
  return { ...because, slots: 0 };
}
