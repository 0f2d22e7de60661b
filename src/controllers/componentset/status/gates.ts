/** Whether the gate of the last batch has passed, and the results of its checks. Pure. */
import type { CheckResult, GateRuns } from '../../../api/generated/types.ts';
import type { Reason } from '../../../api/names.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { GateResult } from '../../../rollout/checks/gate.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { batchGate, openCheckText, skippedChecks } from '../rollout/checks/gate.ts';
import type { OpenBatch, RolloutInput, RolloutMode, RolloutPlan } from '../rollout/input.ts';
import { setFinding as finding } from './finding.ts';
import type { SetReport } from './report.ts';

const TYPE = 'GatesPassed';
const FAILED: Reason = 'GateFailed';
const UNKNOWN: Reason = 'HealthUnknown';
const INCONCLUSIVE: Reason = 'GateInconclusive';
const NO_RESULT: ReadonlySet<string> = new Set([UNKNOWN, INCONCLUSIVE]);
const UNPROVEN: Reason = 'NothingProven';
const COMPLETED: Reason = 'AllDone';
const MAX_VALUE = 64;

export function gatesFinding({ input, plan }: SetReport): ConditionUpdate {
  const isObserved = plan.progress.batch?.soakUntil !== undefined;
  const known = BY_MODE[plan.mode];
  const gate = batchGate(input, plan.progress);
  if (isObserved && 'because' in gate) return checkFinding(gate);
  if (known) return finding(TYPE, known.status, known.reason, plan.limit.because);
  return isObserved ? soakFinding(input, plan) : lastGate(plan);
}

function soakFinding(input: RolloutInput, { limit, progress }: RolloutPlan): ConditionUpdate {
  const { reason, because } = limit;
  const open = openCheckText(input, progress);
  // A batch that has soaked names the check itself.
  const message = open === undefined || because.includes(open) ? because : `${because}; ${open}`;
  return finding(TYPE, 'Unknown', reason === UNPROVEN ? UNPROVEN : 'Soaking', message);
}

function checkFinding({ state, because }: Extract<GateResult, { because: string }>): ConditionUpdate {
  return state === 'Failed'
    ? finding(TYPE, 'False', FAILED, because)
    : finding(TYPE, 'Unknown', INCONCLUSIVE, because);
}

function lastGate({ progress: { batch, stopped }, limit }: RolloutPlan): ConditionUpdate {
  if (stopped?.reason === FAILED) return finding(TYPE, 'False', FAILED, stopped.because);
  if (stopped && NO_RESULT.has(stopped.reason)) {
    return finding(TYPE, 'Unknown', stopped.reason, stopped.because);
  }
  const passed = batch ? passedBefore(batch) : passedAtEnd(limit);
  return passed === undefined
    ? finding(TYPE, 'Unknown', 'NoBatchYet', limit.because)
    : finding(TYPE, 'True', 'AsWanted', passed);
}

/** A batch is opened only after the one before has passed. */
function passedBefore({ index }: OpenBatch): string | undefined {
  return index > 0 ? `the gate of batch ${index} has passed` : undefined;
}

function passedAtEnd({ reason, because }: Explanation): string | undefined {
  return reason === COMPLETED ? because : undefined;
}

/** A revert needs no gate: its revision has passed them before. */
const BY_MODE: Partial<
  Readonly<Record<RolloutMode, { readonly status: 'True' | 'False' | 'Unknown'; readonly reason: string }>>
> = {
  Blocked: { status: 'Unknown', reason: 'Blocked' },
  Steady: { status: 'True', reason: 'AsWanted' },
  Revert: { status: 'True', reason: 'AsWanted' },
  RollingBack: { status: 'False', reason: 'RolledBack' },
  Refused: { status: 'False', reason: 'RolledBack' },
};

const RESULTS = { Passed: 'Pass', Failed: 'Fail', Unknown: 'Inconclusive' } as const;

/** `runs` are those of builtin checks; what others found is remembered with the batch. */
export function checkResults({ input, plan, runs }: SetReport): readonly CheckResult[] {
  const before = new Map(input.set.status?.checks?.map((each) => [each.name, each]));
  const all = [...(plan.progress.batch?.gates ?? []), ...runs];
  const byName = new Map(all.map((each) => [each.name, each]));
  const skipped = skippedChecks(input, plan.progress);
  return input.set.spec.rollout.gate.checks.map(({ name }) =>
    skipped.has(name)
      ? { name, result: 'Skipped', value: 'no machine is left to compare with' }
      : checkResult(name, byName.get(name), before.get(name)),
  );
}

function checkResult(name: string, run: GateRuns | undefined, before: CheckResult | undefined): CheckResult {
  const result = run?.result === undefined ? 'Pending' : RESULTS[run.result];
  const since = before?.result === result ? before.since : run?.ranAt;
  const value = run?.message === undefined ? undefined : truncate(run.message, MAX_VALUE);
  return { name, result, ...optional('value', value), ...optional('since', since) };
}
