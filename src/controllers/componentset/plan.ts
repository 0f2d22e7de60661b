/**
 * Decides what a component set does next: which machines are given a revision, which grants are asked for, renewed or settled, and
 * why every other machine waits. Pure. What it remembers is `RolloutProgress`; everything else is read from the machines.
 */
import { byCode, canonicalJson } from '../../kube/objects/digest.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import { type Limit, tightestLimit } from '../../rollout/limit.ts';
import { failureReason } from './rollout/failure.ts';
import { planBatches, type RolloutStep } from './rollout/forward.ts';
import type { RolloutInput, RolloutMode, RolloutPlan, RolloutProgress } from './rollout/input.ts';
import { type Joining, planJoining } from './rollout/joining.ts';
import { beginRollout, modeOf } from './rollout/mode.ts';
import { pauseClock } from './rollout/pause.ts';
import { beginRollback, planRollback } from './rollout/rollback.ts';
import { availabilityLimit } from './rollout/slots.ts';
import { planUpkeep } from './rollout/upkeep.ts';
import { explainWaits } from './rollout/waits.ts';

export function planRollout(unordered: RolloutInput): RolloutPlan {
  const input = { ...unordered, members: unordered.members.toSorted((a, b) => byCode(a.name, b.name)) };
  const resumed = pauseClock(input.set.spec.paused, input.progress, input.now);
  if (input.set.spec.paused) return pausedPlan(input, resumed);
  const begun = beginRollout({ ...input, progress: resumed });
  const { mode, progress } = afterFailure(input, begun);
  const availability = availabilityLimit(input.set.spec.rollout, input.members);
  const joining = planJoining(input, progress, mode, availability.slots);
  const step = planStep(input, {
    progress,
    mode,
    joining,
    availability: { ...availability, slots: joining.available },
  });
  const assigned = [...joining.actions, ...step.actions];
  const changing = new Set(
    assigned.flatMap((action) => (action.do === 'Assign' ? [action.member.name] : [])),
  );
  return finishPlan(input, mode, { ...step, actions: [...planUpkeep(input, changing), ...assigned] });
}

/** Grants of machines in work are kept up; nothing else begins, and nothing is decided. */
function pausedPlan(input: RolloutInput, progress: RolloutProgress): RolloutPlan {
  const limit: Limit = { slots: 0, reason: 'Paused', because: 'spec.paused is true' };
  return finishPlan(input, modeOf(input, progress), {
    progress,
    actions: planUpkeep(input, new Set()),
    limit,
  });
}

/** The intent is durable before the first act that follows from it. */
function finishPlan(
  input: RolloutInput,
  mode: RolloutMode,
  { progress, actions, limit }: RolloutStep,
): RolloutPlan {
  const isChanged = canonicalJson(progress) !== canonicalJson(input.progress);
  const persist = { do: 'Persist', progress, because: limit.because } as const;
  return {
    progress,
    mode,
    actions: isChanged ? [persist, ...actions] : actions,
    limit,
    waiting: explainWaits(input, actions, limit),
  };
}

interface Decided {
  readonly mode: RolloutMode;
  readonly progress: RolloutProgress;
}

/** A rollout that failed goes back in the same reconcile, where the set permits it and there is a revision to return to. */
function afterFailure(input: RolloutInput, progress: RolloutProgress): Decided {
  const mode = modeOf(input, progress);
  const { desired, stable, set } = input;
  const mayGoBack = mode === 'Forward' && stable && set.spec.rollout.failure.onFailure !== 'Pause';
  if (!mayGoBack || !('revision' in desired) || !failureReason(input, progress)) return { mode, progress };
  return { mode: 'RollingBack', progress: beginRollback(input, progress, desired.revision) };
}

interface StepContext extends Decided {
  readonly joining: Joining;
  readonly availability: Limit;
}

function planStep(input: RolloutInput, { progress, mode, joining, availability }: StepContext): RolloutStep {
  const { desired, stable } = input;
  if (!('revision' in desired)) return stopped(progress, problemLimit(desired.problems));
  if (mode === 'RollingBack' && stable) return planRollback(input, progress, { stable, availability });
  const { revision } = desired;
  const stop = ENDED[mode] ?? desired.yanked[0] ?? failureReason(input, progress);
  if (stop) return stopped(progress, { ...stop, slots: 0 });
  return planBatches(input, progress, { mode, revision, joining: joining.names, availability });
}

/** Modes in which no batch is opened. */
const ENDED: Partial<Readonly<Record<RolloutMode, Explanation>>> = {
  Steady: { reason: 'AllDone', because: 'the revision completed' },
  Refused: {
    reason: 'RolledBack',
    because: 'the revision was rolled back: change the set, or spec.retryToken to try it again',
  },
  RollingBack: { reason: 'RollbackImpossible', because: 'the revision to return to was not read' },
};

function stopped(progress: RolloutProgress, limit: Limit): RolloutStep {
  return { progress, actions: [], limit };
}

function problemLimit(problems: readonly Explanation[]): Limit {
  return tightestLimit(problems.map((problem) => ({ ...problem, slots: 0 })));
}
