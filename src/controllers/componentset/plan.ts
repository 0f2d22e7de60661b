/**
 * Decides what a component set does next: which machines are given a revision, which grants are asked for, renewed or settled, and
 * why every other machine waits. Pure. What it remembers is `RolloutProgress`; everything else is read from the machines.
 */

import { versionsText } from '../../api/machine/versions-text.ts';
import { byCode, canonicalJson } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import { type Limit, tightestLimit } from '../../rollout/limit.ts';
import { completeClosedTimes, recordClosedTimes } from './closed-times.ts';
import { completeGate, recordGate } from './gate-in-force.ts';
import { isAvailable } from './machine/member-state.ts';
import type { Revision } from './revision/resolve.ts';
import { endSoak, pausedSoak } from './rollout/batch-phase.ts';
import { countCheckRuns } from './rollout/checks/count.ts';
import { unknownGateReason } from './rollout/checks/gate.ts';
import { planChecks } from './rollout/checks/plan.ts';
import { type SpreadUse, spreadUse, withStarted } from './rollout/choice/spread.ts';
import { failureReason } from './rollout/failure/failure.ts';
import {
  beginRollback,
  failedReturns,
  goesBack,
  mayRollBack,
  planRollback,
} from './rollout/failure/rollback.ts';
import {
  countUnknownHealth,
  unknownHealthReason,
  withoutUnknownRuns,
} from './rollout/failure/unknown-health.ts';
import { planBatches, type RolloutStep } from './rollout/forward.ts';
import type {
  RolloutAction,
  RolloutInput,
  RolloutMode,
  RolloutPlan,
  RolloutProgress,
} from './rollout/input.ts';
import { type Joining, planJoining } from './rollout/joining.ts';
import { beginRollout, modeOf, rollsOut } from './rollout/mode.ts';
import { pauseClock } from './rollout/pause.ts';
import { availabilityLimit } from './rollout/slots.ts';
import { planRestarts, withRestartWait } from './rollout/upkeep/restarts.ts';
import { planUpkeep } from './rollout/upkeep/upkeep.ts';
import { explainWaits } from './rollout/waits.ts';

export function planRollout(unordered: RolloutInput): RolloutPlan {
  const input = { ...unordered, members: unordered.members.toSorted((a, b) => byCode(a.name, b.name)) };
  if (input.set.spec.dryRun) return idlePlan(input, input.progress, DRY_RUN);
  const resumed = pauseClock(input.set.spec.paused, input.progress, input.now);
  if (input.set.spec.paused) return idlePlan(input, pausedSoak(input, resumed), PAUSED);
  const begun = beginRollout({ ...input, progress: recordGate(input, recordClosedTimes(input, resumed)) });
  const { mode, progress } = afterFailure(input, begun);
  const availability = availabilityLimit(input.set.spec.rollout, input.members);
  // Of the limits of a set only its availability holds machines that go back (ROL-32, ROL-33).
  const spread = mode === 'Forward' || mode === 'Steady' ? spreadUse(input) : undefined;
  const joining = planJoining(input, { progress, mode, available: availability.slots, spread });
  const step = planStep(input, {
    progress,
    mode,
    joining,
    availability: { ...availability, slots: joining.available },
    spread: withStarted(spread, joining.actions),
  });
  const assigned = [...joining.actions, ...step.actions];
  const changing = new Set(
    assigned.flatMap((action) => (action.type === 'Assign' ? [action.member.name] : [])),
  );
  const available = availability.slots - costOf(assigned);
  const restarts = planRestarts(
    { ...input, progress },
    { changing, available, spread: withStarted(spread, assigned) },
  );
  const limit = limitOf(step.limit, joining);
  return finishPlan(input, mode, {
    progress: limit.reason === 'AllDone' ? completeInForce(input, step.progress) : step.progress,
    limit: withRestartWait(limit, restarts, availability),
    actions: [...planUpkeep({ ...input, progress }, changing), ...assigned, ...restarts.actions],
  });
}

function completeInForce(input: RolloutInput, progress: RolloutProgress): RolloutProgress {
  return completeGate(input, completeClosedTimes(input, progress));
}

/** A rollout that is at its end may still have machines that wait for a closed time, or for others of their domain. */
function limitOf(limit: Limit, { closed, spread }: Joining): Limit {
  if (limit.reason !== 'AllDone') return limit;
  return closed ?? (spread ? { ...spread, slots: 0 } : limit);
}

/** Counts the machines that serve now and that these actions take out of service. */
function costOf(assigned: readonly RolloutAction[]): number {
  return assigned.filter((action) => action.type === 'Assign' && isAvailable(action.member)).length;
}

const PAUSED: Limit = { slots: 0, reason: 'Paused', because: 'spec.paused is true' };
const DRY_RUN: Limit = { slots: 0, reason: 'DryRun', because: 'spec.dryRun is true' };

/** Plans only the upkeep of grants of machines in work; nothing else begins, and nothing is decided. */
function idlePlan(input: RolloutInput, progress: RolloutProgress, limit: Limit): RolloutPlan {
  const actions = planUpkeep(input, new Set());
  return finishPlan(input, modeOf(input, progress), { progress, actions, limit });
}

/** Completes the plan so that the intent is durable before the first act that follows from it. */
function finishPlan(
  input: RolloutInput,
  mode: RolloutMode,
  { progress, actions, limit }: RolloutStep,
): RolloutPlan {
  const isChanged = canonicalJson(progress) !== canonicalJson(input.progress);
  const persist = { type: 'Persist', progress, because: limit.because } as const;
  return {
    progress,
    mode,
    actions: isChanged ? [persist, ...actions] : actions,
    limit,
    checks: planChecks(input, mode, progress),
    waiting: explainWaits(input, actions, limit),
  };
}

interface Decided {
  readonly mode: RolloutMode;
  readonly progress: RolloutProgress;
}

/**
 * A rollout that failed goes back in the same reconcile, where the set permits it and there is a revision to return to. Otherwise
 * it stops, until a person decides. So does one whose health or checks stay unknown, but it never goes back.
 */
function afterFailure(input: RolloutInput, begun: RolloutProgress): Decided {
  const mode = modeOf(input, begun);
  if (!rollsOut(mode)) return { mode, progress: begun };
  const progress = mode === 'Forward' ? countUnknownHealth(input, countCheckRuns(input, begun)) : begun;
  const failure = failureReason(input, progress);
  if (failure && mode === 'Forward' && mayRollBack(input)) {
    const rollback = { bad: input.desired.revision, failure };
    return { mode: 'RollingBack', progress: beginRollback(input, progress, rollback) };
  }
  const stop = failure ?? unknownReason(input, progress);
  return { mode, progress: stop ? stopRollout(input, progress, stop) : progress };
}

/** Returns what was not known too often. */
function unknownReason(input: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  return unknownHealthReason(input, progress) ?? unknownGateReason(input, progress);
}

/** Stops the rollout, and drops the soak: what has soaked until now proves nothing. */
function stopRollout(
  { set }: RolloutInput,
  progress: RolloutProgress,
  { reason, because }: Explanation,
): RolloutProgress {
  if (progress.stopped) return progress;
  const stop = { reason, because, ...optional('retryToken', set.spec.retryToken) };
  return { ...withoutUnknownRuns(endSoak(progress)), stopped: stop };
}

interface StepContext extends Decided {
  readonly joining: Joining;
  readonly availability: Limit;
  readonly spread: SpreadUse | undefined;
}

function planStep(input: RolloutInput, context: StepContext): RolloutStep {
  const { progress, mode, joining, availability, spread } = context;
  const { desired, stable } = input;
  if (!('revision' in desired)) return stopped(progress, problemLimit(desired.problems));
  if (stable && goesBack(input, progress, mode)) {
    return planRollback(input, progress, { stable, availability });
  }
  const { revision } = desired;
  const stop =
    endedReason(input, revision, mode) ??
    desired.yanked[0] ??
    failureReason(input, progress) ??
    stoppedReason(progress);
  if (stop) return stopped(progress, { ...stop, slots: 0 });
  return planBatches(input, progress, { mode, revision, joining: joining.names, availability, spread });
}

function stoppedReason({ stopped: stop }: RolloutProgress): Explanation | undefined {
  return stop && { reason: stop.reason, because: stop.because };
}

/** Returns why the rollout is at its end, for a mode in which no batch is opened. */
function endedReason(
  { members, stable }: RolloutInput,
  { components }: Revision,
  mode: RolloutMode,
): Explanation | undefined {
  const versions = versionsText(components);
  if (mode === 'Steady') return { reason: 'AllDone', because: `${versions} completed` };
  if (mode === 'RollingBack') return NOTHING_TO_RETURN_TO;
  if (mode !== 'Refused') return undefined;
  const refused = `${versions} was rolled back. ${TRY_AGAIN}`;
  return { reason: 'RolledBack', because: `${refused}${failedReturns(members, stable)}` };
}

const TRY_AGAIN = 'Change the set, or give spec.retryToken a new value to try it again';

const NOTHING_TO_RETURN_TO: Explanation = {
  reason: 'RollbackImpossible',
  because: 'the revision to return to was not read',
};

function stopped(progress: RolloutProgress, limit: Limit): RolloutStep {
  return { progress, actions: [], limit };
}

function problemLimit(problems: readonly Explanation[]): Limit {
  return tightestLimit(problems.map((problem) => ({ ...problem, slots: 0 })));
}
