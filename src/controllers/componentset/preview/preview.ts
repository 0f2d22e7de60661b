/** Computes what a rollout would do, by the same functions that do it. Pure. */
import type { ActivationClass } from '../../../api/enums.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { isClassAtLeast } from '../../../api/machine/component-change.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { UNLIMITED } from '../../../rollout/limit.ts';
import { actionAsk } from '../execute/permissions.ts';
import type { MemberState } from '../machine/member-state.ts';
import { planRollout } from '../plan.ts';
import { worstClass } from '../revision/change-class.ts';
import type { Revision } from '../revision/resolve.ts';
import { startedIn } from '../rollout/batch-phase.ts';
import { countKinds, representativesFirst, uncountKinds } from '../rollout/choice/representatives.ts';
import { membersInOrder, todoOf } from '../rollout/forward.ts';
import type { RolloutInput, RolloutPlan } from '../rollout/input.ts';
import { planJoining } from '../rollout/joining.ts';
import { rollsOut } from '../rollout/mode.ts';
import { countEarlier, mayBeIn, nextBatch } from '../rollout/next-batch.ts';
import type { DeniedMachine } from '../status/report.ts';
import { setWait } from '../status/wait.ts';
import { type BatchMembers, estimateDuration, estimateEnd, type RolloutDuration } from './estimate.ts';
import { findStartable } from './holds.ts';

export interface PlannedBatch {
  readonly index: number;
  /** The machines in the order in which they are started. */
  readonly machines: readonly string[];
  /** The activation class of the machine that it disturbs most. */
  readonly class: ActivationClass;
}

export interface RolloutPreview {
  /** The batches that follow; of the open one the machines that are not started yet. */
  readonly batches: readonly PlannedBatch[];
  /** New machines, and those that were away: they get the revision outside of the batches. */
  readonly joining: readonly string[];
  /** The activation class of the joining machine that is disturbed most. */
  readonly joiningClass: ActivationClass;
  /** The activation class of the machine that is disturbed most of all. */
  readonly class: ActivationClass;
  readonly drains: number;
  readonly grants: number;
  /** The asks that the Defender would get now, for the machines that would be started at once. */
  readonly asks: readonly GrantAsk[];
  /** Why machines are left out of the batches: a partition, or what their versions declare. */
  readonly holds: readonly Explanation[];
  /** The reason for which the rollout would wait now. */
  readonly wait?: Explanation;
  /** When the rollout ends if nothing fails or waits. Undefined while something does, or where a person has to approve. */
  readonly endsAt?: Date;
  /** How long the rollout takes from its begin, if nothing fails or waits. Absent where a person has to approve. */
  readonly takes?: RolloutDuration;
}

/** Returns what the rollout would do, as if `spec.dryRun` were false. `denials` are answers to a dry run of the asks. */
export function previewRollout(asked: RolloutInput, denials: readonly DeniedMachine[] = []): RolloutPreview {
  const { spec } = asked.set;
  const input = { ...asked, set: { ...asked.set, spec: { ...spec, dryRun: false } } };
  const plan = planRollout(input);
  const wait = setWait({ input, plan, denials, conflicts: [], runs: [] });
  const { desired } = input;
  if (!('revision' in desired)) return withWait({ ...NOTHING }, wait);
  const joining = joiningMembers(input, plan);
  const names = new Set(joining.map(({ name }) => name));
  const { batches, holds } = rollsOut(plan.mode)
    ? plannedBatches(input, plan, desired.revision, names)
    : { batches: [], holds: [] };
  const changed = [...joining, ...batches.flatMap(({ members }) => members)];
  const classOf = (member: MemberState): ActivationClass => input.classOf(member, desired.revision);
  const worstOf = (members: readonly MemberState[]): ActivationClass => worstClass(members.map(classOf));
  const preview = {
    batches: batches.flatMap(({ index, members }) =>
      members.length === 0 ? [] : [{ index, ...namesOf(members), class: worstOf(members) }],
    ),
    joining: namesOf(joining).machines,
    joiningClass: worstOf(joining),
    class: worstOf(changed),
    drains: changed.filter((each) => each.isEstablished && isClassAtLeast(classOf(each), 'Drain')).length,
    grants: changed.length,
    asks: asksOf(input, plan),
    holds,
  };
  const takes = estimateDuration(input, plan.mode, batches);
  const endsAt = holds.length > 0 ? undefined : estimateEnd(input, plan.mode, batches);
  return withWait({ ...preview, ...optional('takes', takes) }, wait, endsAt);
}

const NOTHING = {
  batches: [],
  joining: [],
  joiningClass: 'None',
  class: 'None',
  drains: 0,
  grants: 0,
  asks: [],
  holds: [],
} as const;

function asksOf(input: RolloutInput, { actions }: RolloutPlan): readonly GrantAsk[] {
  return actions.flatMap((action) =>
    action.type === 'Assign' && action.permission.by === 'Ask' ? [actionAsk(action, input)] : [],
  );
}

function withWait(preview: RolloutPreview, wait: Explanation | undefined, endsAt?: Date): RolloutPreview {
  if (wait) return { ...preview, wait };
  return endsAt ? { ...preview, endsAt } : preview;
}

function joiningMembers(input: RolloutInput, { progress, mode }: RolloutPlan): readonly MemberState[] {
  const { names } = planJoining(input, { progress, mode, available: UNLIMITED.slots });
  return input.members.filter(({ name }) => names.has(name));
}

interface PlannedBatches {
  readonly batches: readonly BatchMembers[];
  readonly holds: readonly Explanation[];
}

/** Returns the batches that follow. A batch whose machines all have the revision already is empty: it is given to none, and soaks. */
function plannedBatches(
  input: RolloutInput,
  { mode, progress }: RolloutPlan,
  revision: Revision,
  joining: ReadonlySet<string>,
): PlannedBatches {
  const { set } = input;
  const context = { mode, revision, joining, availability: UNLIMITED };
  const { startable, holds, ...planned } = findStartable(input, todoOf(input, context), context);
  let { slots } = planned;
  let waiting = membersInOrder(input, startable, revision.name);
  const kinds = countKinds(waiting);
  const earlier = countEarlier(input, revision, mode);
  const batches: BatchMembers[] = [];
  const take = (index: number, size: number, started: readonly MemberState[]): void => {
    const { preferUnhealthy } = set.spec.rollout;
    const own = index === 0 ? waiting.filter((member) => mayBeIn(input, index, member)) : waiting;
    const ordered = representativesFirst(own, { preferUnhealthy, started, kinds });
    const members = takeFirst(ordered, Math.min(size, slots));
    waiting = without(waiting, members);
    uncountKinds(kinds, members);
    slots -= members.length;
    if (members.length > 0 || size === 0) batches.push({ index, members });
  };
  let { batch: open } = progress;
  const begun = open ? startedIn(input, progress, open) : [];
  if (open && open.size > begun.length) take(open.index, open.size - begun.length, begun);
  for (;;) {
    const batch = nextBatch(input, open, { todo: waiting, earlier, slots });
    if (!batch) return { batches, holds };
    take(batch.index, batch.size - batch.earlier, []);
    open = { ...batch, startedAt: input.now };
  }
}

function takeFirst(ordered: Iterable<MemberState>, size: number): readonly MemberState[] {
  const members: MemberState[] = [];
  if (size <= 0) return members;
  for (const member of ordered) {
    members.push(member);
    if (members.length >= size) break;
  }
  return members;
}

/** Most often they are the first ones: a set of 10,000 machines may have as many batches. */
function without(waiting: readonly MemberState[], taken: readonly MemberState[]): readonly MemberState[] {
  if (taken.every((member, index) => member === waiting[index])) return waiting.slice(taken.length);
  const names = new Set(taken);
  return waiting.filter((member) => !names.has(member));
}

function namesOf(members: readonly MemberState[]): Pick<PlannedBatch, 'machines'> {
  return { machines: members.map(({ name }) => name) };
}
