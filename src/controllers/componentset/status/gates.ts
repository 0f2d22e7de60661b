/** Whether the gate of the last batch has passed, and the results of its checks. Pure. */
import type { CheckResult, GateRuns } from '../../../api/generated/types.ts';
import type { Reason } from '../../../api/names.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { GateResult } from '../../../rollout/checks/gate.ts';
import type { OpenBatch, RolloutMode, RolloutPlan } from '../rollout/input.ts';
import { setFinding as finding } from './finding.ts';
import type { SetReport } from './report.ts';

const TYPE = 'GatesPassed';
const FAILED: Reason = 'GateFailed';
const UNKNOWN: Reason = 'HealthUnknown';
const UNPROVEN: Reason = 'NothingProven';
const COMPLETED: Reason = 'AllDone';
const MAX_VALUE = 64;

export function gatesFinding({ input, plan }: SetReport): ConditionUpdate {
  const { batch } = plan.progress;
  const isObserved = batch?.soakUntil !== undefined;
  const known = BY_MODE[plan.mode];
  if (isObserved && 'because' in input.gate) return checkFinding(input.gate);
  if (known) return finding(TYPE, known.status, known.reason, plan.limit.because);
  if (isObserved) {
    const { reason, because } = plan.limit;
    return finding(TYPE, 'Unknown', reason === UNPROVEN ? UNPROVEN : 'Soaking', because);
  }
  return lastGate(plan);
}

function checkFinding({ state, because }: Extract<GateResult, { because: string }>): ConditionUpdate {
  return state === 'Failed'
    ? finding(TYPE, 'False', FAILED, because)
    : finding(TYPE, 'Unknown', 'GateInconclusive', because);
}

function lastGate({ progress: { batch, stopped }, limit }: RolloutPlan): ConditionUpdate {
  if (stopped?.reason === FAILED) return finding(TYPE, 'False', FAILED, stopped.because);
  if (stopped?.reason === UNKNOWN) return finding(TYPE, 'Unknown', UNKNOWN, stopped.because);
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

export function checkResults({ input, runs }: SetReport): readonly CheckResult[] {
  const before = new Map(input.set.status?.checks?.map((each) => [each.name, each]));
  const byName = new Map(runs.map((each) => [each.name, each]));
  return input.set.spec.rollout.gate.checks.map(({ name }) =>
    checkResult(name, byName.get(name), before.get(name)),
  );
}

function checkResult(name: string, run: GateRuns | undefined, before: CheckResult | undefined): CheckResult {
  const result = run?.result === undefined ? 'Pending' : RESULTS[run.result];
  const since = before?.result === result ? before.since : run?.ranAt;
  const value = run?.message === undefined ? undefined : truncate(run.message, MAX_VALUE);
  return { name, result, ...optional('value', value), ...optional('since', since) };
}
