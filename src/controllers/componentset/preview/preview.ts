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
import { membersInOrder, todoOf } from '../rollout/forward.ts';
import type { RolloutInput, RolloutPlan } from '../rollout/input.ts';
import { planJoining } from '../rollout/joining.ts';
import { rollsOut } from '../rollout/mode.ts';
import { countEarlier, mayBeIn, nextBatch } from '../rollout/next-batch.ts';
import type { DeniedMachine } from '../status/report.ts';
import { setWait } from '../status/wait.ts';
import { type BatchMembers, estimateDuration, estimateEnd, type RolloutDuration } from './estimate.ts';

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
  const batches = rollsOut(plan.mode) ? plannedBatches(input, plan, desired.revision, names) : [];
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
  };
  const takes = estimateDuration(input, plan.mode, batches);
  return withWait({ ...preview, ...optional('takes', takes) }, wait, estimateEnd(input, plan.mode, batches));
}

const NOTHING = {
  batches: [],
  joining: [],
  joiningClass: 'None',
  class: 'None',
  drains: 0,
  grants: 0,
  asks: [],
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
  const { names } = planJoining(input, progress, mode, UNLIMITED.slots);
  return input.members.filter(({ name }) => names.has(name));
}

/** Returns the batches that follow. A batch whose machines all have the revision already is empty: it is given to none, and soaks. */
function plannedBatches(
  input: RolloutInput,
  { mode, progress }: RolloutPlan,
  revision: Revision,
  joining: ReadonlySet<string>,
): readonly BatchMembers[] {
  const todo = todoOf(input, { mode, revision, joining, availability: UNLIMITED });
  let waiting = membersInOrder(input, todo, revision.name);
  const earlier = countEarlier(input, revision, mode);
  const batches: BatchMembers[] = [];
  const take = (index: number, size: number): void => {
    const { members, others } = takeFirst(waiting, size, (member) => mayBeIn(input, index, member));
    waiting = others;
    if (members.length > 0 || size === 0) batches.push({ index, members });
  };
  let { batch: open } = progress;
  const openSize = open ? open.size - startedIn(input, progress, open).length : 0;
  if (open && openSize > 0) take(open.index, openSize);
  for (;;) {
    const batch = nextBatch(input, open, { todo: waiting, earlier });
    if (!batch) return batches;
    take(batch.index, batch.size - batch.earlier);
    open = { ...batch, startedAt: input.now };
  }
}

/** Takes machines from the list. It reads no more machines than it takes: a set of 10,000 machines may have as many batches. */
function takeFirst(
  waiting: readonly MemberState[],
  size: number,
  mayBeTaken: (member: MemberState) => boolean,
): { readonly members: readonly MemberState[]; readonly others: readonly MemberState[] } {
  const members: MemberState[] = [];
  const passedOver: MemberState[] = [];
  for (const member of waiting) {
    if (members.length >= size) break;
    if (mayBeTaken(member)) members.push(member);
    else passedOver.push(member);
  }
  return { members, others: [...passedOver, ...waiting.slice(members.length + passedOver.length)] };
}

function namesOf(members: readonly MemberState[]): Pick<PlannedBatch, 'machines'> {
  return { machines: members.map(({ name }) => name) };
}
