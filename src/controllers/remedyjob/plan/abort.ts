/**
 * Stops a job before its end: a release is withdrawn first, and what the agent has begun may end. The reason is kept in the
 * condition Guarded, so that the job stops also when the reason has passed meanwhile. Pure.
 */
import type { AgentStep, JobStep, JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import {
  answerOf,
  currentStep,
  isBegun,
  isDisruptive,
  isOpenRecord,
  type OpenRecord,
  stepEnd,
  stepRecord,
} from '../../../api/status/step-records.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import type { JobInput } from '../observe/observe.ts';
import { isSwitchedOn, mayGoOff } from '../power/power-records.ts';
import { mayBeAnswered, mayBeSent } from '../power/provider-answer.ts';
import { type JobDecision, jobFinding, type RepairWait } from './decision.ts';
import { ABORT_CLASSES, type Abort, type AbortReason, guardAbort } from './guard.ts';
import { isReplaced } from './replacement.ts';

/** An agent that has not answered a withdrawn release for this long did not begin: its watch is faster. */
const WITHDRAWN_MS = 15_000;
const POLL_MS = 5000;

export function abortOf(observation: JobInput): Abort | undefined {
  return (
    replaced(observation) ??
    overdue(observation) ??
    keptAbort(observation.job) ??
    cancelled(observation.job) ??
    guarded(observation)
  );
}

function replaced(observation: JobInput): Abort | undefined {
  if (isReplaced(observation)) return undefined;
  const { job, machine, node } = observation;
  const reason = 'NodeReplaced';
  const { spec } = job;
  if (machine?.metadata.uid !== spec.machine.uid) {
    return { reason, message: `Machine ${spec.machine.name} with UID ${spec.machine.uid} was deleted` };
  }
  if (node?.metadata.uid === spec.node.uid) return undefined;
  return { reason, message: `the Node with UID ${spec.node.uid} was deleted` };
}

function overdue({ job: { spec }, now }: JobInput): Abort | undefined {
  if (Date.parse(spec.deadline) > now.getTime()) return undefined;
  return { reason: 'DeadlineExceeded', message: `the deadline ${spec.deadline} has passed` };
}

function keptAbort(job: RemedyOperationJob): Abort | undefined {
  const guard = conditionOf(job.status?.conditions, 'Guarded');
  if (guard?.status !== 'False' || !Object.hasOwn(ABORT_CLASSES, guard.reason)) return undefined;
  if (guard.reason === 'RuleRefuted' && wasRepairing(job, guard.lastTransitionTime)) return undefined;
  return { reason: guard.reason as AbortReason, message: guard.message };
}

/**
 * Tells whether the agent had begun a step when the fault cleared, and its answer came later than the condition that the repair
 * itself had changed: the job goes on, and verifies it.
 */
function wasRepairing(job: RemedyOperationJob, time: string): boolean {
  return (job.status?.steps ?? []).some((record) => {
    const step = job.spec.plan.find(({ id }) => id === record.id);
    if (step?.executor !== 'Agent' || !isDisruptive(step)) return false;
    const isDone = record.state === 'Succeeded' && Date.parse(record.finishedAt ?? '') >= Date.parse(time);
    return isDone || isWithAgent(job, record);
  });
}

function cancelled({ spec: { cancel }, metadata }: RemedyOperationJob): Abort | undefined {
  if (cancel) return { reason: 'Cancelled', message: `cancelled by ${cancel.by}: ${cancel.reason}` };
  if (metadata.deletionTimestamp === undefined) return undefined;
  return { reason: 'Cancelled', message: 'the job was deleted' };
}

/** Returns what the guards forbid, but only for a step that disturbs the node, and that may still be prevented. */
function guarded(observation: JobInput): Abort | undefined {
  const { job } = observation;
  const step = currentStep(job);
  if (!step || !isDisruptive(step) || isReplaced(observation)) return undefined;
  const record = stepRecord(job, step.id);
  return record && isUnderWay(observation, record) ? undefined : guardAbort(observation);
}

/** A machine that is off is switched on whatever has changed meanwhile, and what was answered is waited for. */
function isUnderWay({ job, now }: JobInput, record: JobStepStatus): boolean {
  if (isWithAgent(job, record) || isSwitchedOn(record)) return true;
  return mayBeAnswered(record) && !mayBeSent(record, now);
}

function isWithAgent(job: RemedyOperationJob, record: JobStepStatus): boolean {
  if (record.power) return false;
  const answer = isOpenRecord(record) ? answerOf(job, record) : undefined;
  return (
    answer !== undefined && answer.state !== 'Refused' && (isBegun(answer) || answer.state !== 'Running')
  );
}

export function planAbort(observation: JobInput, abort: Abort): JobDecision {
  const { job, now } = observation;
  const isAtOnce = abort.reason === 'NodeReplaced' || abort.reason === 'DeadlineExceeded';
  const until = isAtOnce ? undefined : abortsAt(observation);
  if (until === undefined || until <= now) return endAborted(job, abort);
  const findings = [jobFinding('Guarded', 'False', abort.reason, abort.message)];
  const message = `${abort.message}; what the agent has begun ends first`;
  const wait: RepairWait = { reason: 'Stopping', message };
  const requeueAt = new Date(Math.min(until.getTime(), now.getTime() + POLL_MS));
  return { type: 'Wait', because: abort.message, change: { release: null, findings, wait }, requeueAt };
}

/** Returns when the job stops. Undefined: at once. */
function abortsAt({ job, now }: JobInput): Date | undefined {
  const open = openStep(job);
  if (!open || open.step.executor !== 'Agent' || open.record.power) return undefined;
  const { step, answer } = open;
  if (!answer) return withdrawnUntil(job, now);
  if (isBegun(answer)) return stepEnd(step, answer.startedAt, now);
  return answer.state === 'Running' ? withdrawnUntil(job, now) : undefined;
}

function withdrawnUntil(job: RemedyOperationJob, now: Date): Date {
  const guard = conditionOf(job.status?.conditions, 'Guarded');
  const since = guard?.status === 'False' ? Date.parse(guard.lastTransitionTime) : now.getTime();
  return new Date(since + WITHDRAWN_MS);
}

interface OpenStep {
  readonly step: JobStep;
  readonly record: OpenRecord;
  readonly answer: AgentStep | undefined;
}

function openStep(job: RemedyOperationJob): OpenStep | undefined {
  const step = currentStep(job);
  const record = step && stepRecord(job, step.id);
  return step && isOpenRecord(record) ? { step, record, answer: answerOf(job, record) } : undefined;
}

function endAborted(job: RemedyOperationJob, { reason, message }: Abort): JobDecision {
  const open = openStep(job);
  const mayHappen = open !== undefined && mayStillHappen(open);
  const isAmbiguous = mayHappen && reason === 'DeadlineExceeded';
  const outcome = { class: isAmbiguous ? 'Ambiguous' : ABORT_CLASSES[reason], reason, message } as const;
  const findings = [jobFinding('Guarded', 'False', reason, message)];
  const state = mayHappen ? 'Ambiguous' : 'Failed';
  const ended = open ? { step: { ...open.record, state, code: reason, message } as const } : {};
  return { type: 'Write', because: message, change: { ...ended, release: null, outcome, findings } };
}

/** Tells whether the agent has begun a disruptive step, and has not ended it; or whether the machine may still go off. */
function mayStillHappen({ step, record, answer }: OpenStep): boolean {
  if (mayGoOff(record) || mayBeAnswered(record)) return true;
  return isDisruptive(step) && answer !== undefined && isBegun(answer);
}
