/**
 * The end of a job: what it changed on the Node is undone, kept for a while, or handed to a person; then the grant is settled,
 * and the finalizer goes. Only what carries the mark of the job is touched, and never another Node of the same name. Pure.
 */
import type { JobOutcome, RemedyOperationJob } from '../../../api/generated/types.ts';
import { FINALIZER_SETTLE } from '../../../api/names.ts';
import { stepName } from '../../../api/status/step-records.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../../kube/controller/writes/json-patch.ts';
import { type CordonMark, cordonState, planUncordon } from '../../../kube/drain/cordon.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import type { JobInput } from '../observe/observe.ts';
import { powerToRestore } from '../power/restore.ts';
import { type JobDecision, jobFinding } from './decision.ts';
import { grantOutcome } from './grant-outcome.ts';
import { markOfJob } from './guard.ts';
import { isMachineReported, needsPersonFinding } from './machine-report.ts';
import { planOpenCase } from './open-case.ts';
import { isOutOfService, jobTaints, planTaintHandOver, planUntaint } from './owned-taints.ts';

export type SettleMode = 'Undo' | 'KeepCordoned' | 'HandOver';

/** The fault has cleared, or a person has already decided about the cordon. */
const CLEARED: readonly string[] = ['RuleRefuted', 'UncordonedByPerson'];

export function settleMode(
  { spec }: RemedyOperationJob,
  { class: kind, reason = '' }: JobOutcome,
): SettleMode {
  if (kind === 'Succeeded' || kind === 'Superseded' || CLEARED.includes(reason)) return 'Undo';
  return kind === 'HandedOff' ? 'HandOver' : spec.settle.aborted;
}

export function planSettlement(observation: JobInput, outcome: JobOutcome): JobDecision {
  const { job } = observation;
  if (conditionStatus(job.status?.conditions, 'Settled') === 'True') return planSettled(observation);
  const mode = settleMode(job, outcome);
  const operations = mode === 'KeepCordoned' ? [] : operationsFor(observation, mode);
  if (operations.length > 0) return { type: 'PatchNode', operations, because: `${mode}: ${outcome.class}` };
  const last = powerToRestore(observation, mode === 'Undo');
  if (last) return { type: 'RestorePower', last, because: `${last.step.step} has left the machine off` };
  return reportOrSettle(observation, outcome, mode);
}

function reportOrSettle(observation: JobInput, outcome: JobOutcome, mode: SettleMode): JobDecision {
  const { job, machine } = observation;
  const needsPerson = needsPersonFinding(observation, outcome);
  if (machine && isOwn(job, machine) && !isMachineReported(observation, needsPerson)) {
    return { type: 'ReportMachine', needsPerson, because: `the outcome is ${outcome.class}` };
  }
  return settleGrant(observation, outcome, mode);
}

function settleGrant(observation: JobInput, outcome: JobOutcome, mode: SettleMode): JobDecision {
  const { job, now } = observation;
  const isKept = mode === 'KeepCordoned' && keptNode(observation) !== undefined;
  const seconds = job.spec.settle.holdSeconds;
  const kept = isKept ? `; the node stays cordoned for ${seconds} s, then a person decides` : '';
  const message = `${outcome.message ?? outcome.class}${kept}`;
  const change = {
    undone: mode === 'Undo' ? undoneSteps(job) : [],
    findings: [jobFinding('Settled', 'True', outcome.class, message)],
    timeline: { settledAt: now.toISOString() },
  };
  const settled = { outcome: grantOutcome(job, outcome), handedOff: outcome.class === 'HandedOff' };
  return { type: 'SettleGrant', ...settled, change, because: message };
}

const UNDONE: readonly (string | undefined)[] = ['Cordon', 'Taint', 'OutOfServiceTaint', 'PowerOff'];

function undoneSteps({ spec, status }: RemedyOperationJob): readonly string[] {
  const done = (status?.steps ?? []).filter(({ state }) => state === 'Succeeded').map(({ id }) => id);
  return spec.plan
    .filter((step) => UNDONE.includes(stepName(step)) && done.includes(step.id))
    .map(({ id }) => id);
}

/** The grant is settled. What is still on the Node is there for a person, or until the fault has cleared. */
function planSettled(observation: JobInput): JobDecision {
  const { job } = observation;
  if ((job.metadata.finalizers ?? []).includes(FINALIZER_SETTLE)) {
    return { type: 'RemoveFinalizer', because: 'the grant is settled' };
  }
  if (keptNode(observation)) return planKept(observation);
  return planOpenCase(observation) ?? { type: 'Nothing', because: 'the job is settled' };
}

const KEPT_POLL_MS = 30_000;

function planKept(observation: JobInput): JobDecision {
  const { job, machine, node, rule, now } = observation;
  const isHeld = machine !== undefined && holdInForce(machine, node, now) !== undefined;
  if (isHeld) return keep('the machine is held', now);
  if (node && cordonState(node, markOfJob(job)) === 'UncordonedByPerson') {
    return patchNode(observation, 'Undo', 'a person has uncordoned the node');
  }
  if (rule === 'NoMatch') return patchNode(observation, 'Undo', 'the fault has cleared');
  if (keptUntil(job) > now) return keep('the node stays cordoned', now);
  return handOver(observation);
}

function keep(because: string, now: Date): JobDecision {
  return { type: 'Wait', because, change: {}, requeueAt: new Date(now.getTime() + KEPT_POLL_MS) };
}

/** A person decides from now on. */
function handOver(observation: JobInput): JobDecision {
  const { job, machine } = observation;
  const message = `job ${job.metadata.name} has left the node cordoned: ${job.status?.outcome?.message ?? ''}`;
  const needsPerson = jobFinding('NeedsPerson', 'True', 'CordonKept', message);
  if (machine && isOwn(job, machine) && !isMachineReported(observation, needsPerson)) {
    return { type: 'ReportMachine', needsPerson, because: message };
  }
  return patchNode(observation, 'HandOver', message);
}

function keptUntil({ spec, status }: RemedyOperationJob): Date {
  return new Date(Date.parse(status?.timeline?.settledAt ?? '') + spec.settle.holdSeconds * 1000);
}

function patchNode(observation: JobInput, mode: SettleMode, because: string): JobDecision {
  return { type: 'PatchNode', operations: operationsFor(observation, mode), because };
}

function isOwn({ spec }: RemedyOperationJob, { metadata }: KubeObject): boolean {
  return metadata.uid === spec.machine.uid;
}

/** The Node of the job, if it carries a mark of it. The taint that must not stay on a machine that runs is removed at its next boot. */
function keptNode({ job, node }: JobInput): KubeObject | undefined {
  if (!node || node.metadata.uid !== job.spec.node.uid) return undefined;
  const { id } = job.spec.grant;
  const isTainted = jobTaints(node, id).some((taint) => !isOutOfService(taint));
  return isMarkedBy(node, markOfJob(job)) || isTainted ? node : undefined;
}

function isMarkedBy(node: KubeObject, mark: CordonMark): boolean {
  const state = cordonState(node, mark);
  return state === 'Ours' || state === 'UncordonedByPerson';
}

function operationsFor(observation: JobInput, mode: SettleMode): readonly JsonPatchOperation[] {
  const { job } = observation;
  const node = keptNode(observation);
  if (!node) return [];
  const mark = markOfJob(job);
  const { id } = job.spec.grant;
  if (mode === 'Undo') return [...planUncordon(node, mark).operations, ...planUntaint(node, id)];
  const path = pointerTo('metadata', 'annotations', mark.annotation);
  const isMarked = isMarkedBy(node, mark);
  return [...(isMarked ? [{ op: 'remove', path } as const] : []), ...planTaintHandOver(node, id)];
}
