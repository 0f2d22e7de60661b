/** Tells how far the open batch is: filled, settled, soaked, proven. Pure. */
import { secondsAfter } from '../../../os/dates.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MemberState } from '../machine/member-state.ts';
import { needsReassignment } from './assignment.ts';
import { withoutLastResults } from './checks/count.ts';
import { batchGate, openCheckText } from './checks/gate.ts';
import { failedMembers } from './failure/failure.ts';
import type { OpenBatch, RolloutInput, RolloutMode, RolloutProgress } from './input.ts';

export type BatchPhase =
  /** Nothing is open, or what is open has passed: the next one may begin. */
  | { readonly phase: 'Passed' }
  | { readonly phase: 'Filling'; readonly left: number }
  | ({ readonly phase: 'Settling' | 'Soaking' | 'Gate' } & Explanation);

const PASSED: BatchPhase = { phase: 'Passed' };

/**
 * Returns the machines that were started in a batch. Those that left since still count: a batch that was begun never grows. In
 * the open batch, a machine whose assignment was removed counts, too, until it has it again.
 */
export function startedIn(
  { members, left, desired }: RolloutInput,
  { updateRevision, batch: open }: RolloutProgress,
  batch: OpenBatch,
): readonly MemberState[] {
  const update = 'revision' in desired ? desired.revision : undefined;
  const returnsTo = open?.index === batch.index && update?.name === updateRevision ? update : undefined;
  const started = [...members, ...left].filter(
    (each) => each.revision === updateRevision && each.batch === batch.index,
  );
  const unassigned = returnsTo ? members.filter((member) => needsReassignment(member, returnsTo)) : [];
  return [...started, ...unassigned];
}

/** Returns the phase of the batch. `canStart` are machines that may fill the batch up. Without any, a batch that was begun is full. */
export function batchPhase(
  input: RolloutInput,
  progress: RolloutProgress,
  { canStart, mode }: { readonly canStart: boolean; readonly mode: RolloutMode },
): BatchPhase {
  const { batch } = progress;
  if (!batch) return PASSED;
  const started = startedIn(input, progress, batch);
  const left = batch.size - started.length;
  if (left > 0 && canStart) return { phase: 'Filling', left };
  const open = unsettled(started).find((each) => !isLeftAlone(input, each));
  if (open) return settling(open);
  return mode === 'Revert' || started.length === 0 ? PASSED : gatePhase(input, progress, batch);
}

/** Returns the machines that are not settled. A machine that a person holds does not keep the others waiting. */
export function unsettled(members: readonly MemberState[]): readonly MemberState[] {
  return members.filter(({ step, hold }) => !hold && UNSETTLED.has(step));
}

/** Tells whether a machine asks for something after it left the set: it does not get that. */
function isLeftAlone({ left }: RolloutInput, member: MemberState): boolean {
  return (member.step === 'NeedsGrant' || member.step === 'Retriable') && left.includes(member);
}

const UNSETTLED: ReadonlySet<MemberState['step']> = new Set([
  'InWork',
  'NeedsGrant',
  'Unassigned',
  'Unknown',
  'Retriable',
]);

export function settling({ name, reason, because }: MemberState): BatchPhase {
  return {
    phase: 'Settling',
    reason,
    because: `${name}: ${because}`,
    blocker: { kind: 'Machine', name },
  };
}

function gatePhase(
  input: RolloutInput,
  progress: RolloutProgress,
  { index, soakUntil }: OpenBatch,
): BatchPhase {
  const { now } = input;
  if (!soakUntil || now < soakUntil) {
    const because = soakUntil
      ? `batch ${index + 1} soaks until ${soakUntil.toISOString()}`
      : `batch ${index + 1} begins to soak`;
    return { phase: 'Soaking', reason: 'Soaking', because, ...(soakUntil && { until: soakUntil }) };
  }
  if (batchGate(input, progress).state === 'Open') return PASSED;
  const found = openCheckText(input, progress);
  const because = `checks of batch ${index + 1} have not passed yet${found === undefined ? '' : `; ${found}`}`;
  return { phase: 'Gate', reason: 'GateOpen', because };
}

/** Starts the clock of the soak when the batch is settled, and again whenever it was not. */
export function withSoak(
  { set, now }: RolloutInput,
  progress: RolloutProgress,
  { phase }: BatchPhase,
): RolloutProgress {
  const { batch } = progress;
  if (!batch) return progress;
  if (phase === 'Soaking' && !batch.soakUntil) {
    const soakUntil = secondsAfter(now, set.spec.rollout.gate.soakSeconds);
    return { ...progress, batch: { ...batch, settledAt: now, soakUntil } };
  }
  return phase === 'Settling' || phase === 'Filling' ? withoutSoak(progress) : progress;
}

/** While a set is paused nothing is decided about a machine that is not well, but the batch does not soak with it. */
export function pausedSoak(input: RolloutInput, progress: RolloutProgress): RolloutProgress {
  const { batch } = progress;
  const started = batch ? startedIn(input, progress, batch) : [];
  const isWell = unsettled(started).length === 0 && failedMembers(started, progress).length === 0;
  return isWell ? progress : withoutSoak(progress);
}

/** Drops the soak with what checks found last: it begins again once all machines are settled. */
export function withoutSoak(progress: RolloutProgress): RolloutProgress {
  const { batch } = progress;
  return batch?.soakUntil ? endSoak({ ...progress, batch: withoutLastResults(batch) }) : progress;
}

/** Drops the soak, and keeps what checks found, for people to read. */
export function endSoak(progress: RolloutProgress): RolloutProgress {
  if (!progress.batch?.soakUntil) return progress;
  const { soakUntil: _soakUntil, settledAt: _settledAt, ...batch } = progress.batch;
  return { ...progress, batch };
}
