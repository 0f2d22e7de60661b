/** One machine: what its rules find, its faults, and at most one job. Every choice is made in plan.ts. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { EVENT_PREFIX, MANAGER_REMEDY } from '../../../api/names.ts';
import type { RemedyWait } from '../../../api/status/rule-waits.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { firstMoment, secondsAfter } from '../../../os/dates.ts';
import { takeTurn } from '../execute/ask-in-order.ts';
import { shadow } from '../execute/execute.ts';
import { findingsOn } from '../findings.ts';
import { rememberFindings, rememberWaits } from '../machine-findings.ts';
import { type EvaluatedMachine, type EvaluatedRule, evaluateRules } from '../observe/evaluation.ts';
import { observeRemedy } from '../observe/observe.ts';
import { planRemedy } from '../plan.ts';
import { recordedWaits } from '../recorded-waits.ts';
import type { RemedyState } from '../state.ts';

/** A slow pass over everything catches what no change announced. */
const FULL_PASS_SECONDS = 600;
/** For waits that end by a change elsewhere. */
const RETRY_SECONDS: Readonly<Partial<Record<RemedyWait['reason'], number>>> = {
  Starting: 1,
  TooManyMatches: 30,
  ControlPlaneBusy: 10,
  Outranked: 30,
  NotItsTurn: 2,
  Denied: 30,
};

interface MachineParts {
  readonly state: RemedyState;
  readonly context: ReconcileContext;
}

export async function reconcileMachine(
  name: string,
  state: RemedyState,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const machine = context.view<Machine>(MACHINES).get(name);
  if (!machine) {
    forget(name, state);
    return {};
  }
  const parts: MachineParts = { state, context };
  const subject: EvaluatedMachine = { machine, node: context.view(NODES).get(name) };
  const { rules: evaluated, faults } = await evaluateRules(subject, state, context);
  state.metrics?.found(evaluated, state.findings.get(name)?.byRule);
  // Before anything can fail: rules wait until each of their targets was evaluated.
  rememberFindings(subject, evaluated, state);
  const remedyWaits = machine.status?.remedyWaits ?? [];
  // Written before a job is asked for: its case is named after the start of the fault.
  await record(machine, { faults, remedyWaits }, context);
  const waits = await carryOut(subject, evaluated, parts);
  const now = context.clock.now();
  for (const [rule, wait] of rememberWaits(name, waits, { ...state, now })) {
    reportWait(rule, wait, { machine, context });
  }
  const recorded = recordedWaits({
    recorded: remedyWaits,
    remediers: evaluated.map(({ remedier }) => remedier),
    findings: findingsOn(state.findings, name, subject.node?.metadata.uid),
    now,
  });
  await record(machine, { faults, remedyWaits: recorded.waits }, context);
  return { requeueAt: nextAt(evaluated, waits, { now, recordAt: recorded.nextAt }) };
}

function forget(name: string, state: RemedyState): void {
  const rules = state.findings.get(name)?.byRule.keys() ?? [];
  state.findings.delete(name);
  state.turns.leave(name);
  for (const rule of rules) state.ruleChanged(rule);
}

/** Resolves with why there is no act, by rule. */
async function carryOut(
  subject: EvaluatedMachine,
  evaluated: readonly EvaluatedRule[],
  parts: MachineParts,
): Promise<ReadonlyMap<string, RemedyWait>> {
  const { machine } = subject;
  const plan = planRemedy(observeRemedy(subject, evaluated, parts));
  const waits = new Map(plan.waits);
  for (const each of plan.shadow) {
    const denied = await shadow(each, { machine, ...parts }); // oxlint-disable-line no-await-in-loop -- mostly none
    if (denied) waits.set(each.remedier.metadata.name, denied);
  }
  if (!plan.act) parts.state.turns.leave(machine.metadata.name);
  const denied = plan.act && (await takeTurn(plan.act, { machine, evaluated, ...parts }));
  if (plan.act && denied) waits.set(plan.act.remedier.metadata.name, denied);
  return waits;
}

/** Where nothing happens, people see why. */
function reportWait(
  rule: string,
  { reason: why, message }: RemedyWait,
  { machine, context }: { readonly machine: Machine; readonly context: ReconcileContext },
): void {
  const reason = `${EVENT_PREFIX[MANAGER_REMEDY]}Waiting`;
  const note = `rule ${rule} waits: ${why}: ${message}`;
  context.event(machine, { type: 'Normal', reason, action: 'Repair', note });
}

type RemedyReport = Required<Pick<NonNullable<Machine['status']>, 'faults' | 'remedyWaits'>>;

/** Both at once: an apply removes what it does not send. */
async function record(
  { metadata: { name }, status }: Machine,
  report: RemedyReport,
  context: ReconcileContext,
): Promise<void> {
  const { faults = [], remedyWaits = [] } = status ?? {};
  const lists = [faults, remedyWaits, report.faults, report.remedyWaits];
  if (lists.every(({ length }) => length === 0)) return;
  await context.applyStatus(MACHINES, { metadata: { name }, status: report });
}

interface NextMoment {
  readonly now: Date;
  /** When there is more to record. */
  readonly recordAt: Date | undefined;
}

function nextAt(
  evaluated: readonly EvaluatedRule[],
  waits: ReadonlyMap<string, RemedyWait>,
  { now, recordAt }: NextMoment,
): Date {
  const ends = [...waits.values()].flatMap(({ reason, until }) => {
    const seconds = RETRY_SECONDS[reason];
    return [until, seconds === undefined ? undefined : secondsAfter(now, seconds)];
  });
  const clear = evaluated.map(({ remedier, finding: { clearSince, since } }) =>
    clearSince && since ? secondsAfter(clearSince, remedier.spec.rule.clearSeconds) : undefined,
  );
  const due = evaluated.map(({ dueAt }) => dueAt);
  const recheck = secondsAfter(now, FULL_PASS_SECONDS);
  return firstMoment([...ends, ...clear, ...due, recordAt, recheck]) ?? recheck;
}
