/**
 * Decides what a repair job does next. Every reconcile decides from the records alone, so that a restart at any point changes
 * nothing: a step is recorded before it is done, and what is not known is never done again. Pure.
 */
import type { JobOutcome, JobStep, JobStepStatus, Wait } from '../../../api/generated/types.ts';
import {
  type AfterFailure,
  afterFailure,
  bootIdOf,
  currentStep,
  isOpenRecord,
  isPermanent,
  nextStep,
  stepEnd,
  stepName,
  stepRecord,
  TIMED_OUT,
} from '../../../api/status/step-records.ts';
import type { JobInput } from '../observe/observe.ts';
import { mayGoOff, powerStep } from '../power/power-records.ts';
import { mayBeAnswered } from '../power/provider-answer.ts';
import { abortOf, planAbort } from './abort.ts';
import { planAgentStep, planRelease, recordedAnswer } from './agent-step.ts';
import { type JobDecision, jobFinding } from './decision.ts';
import { planFallback, planOtherWay } from './reboot-ways.ts';
import { planSettlement } from './settlement.ts';
import { planVerification } from './verification.ts';

export function planJob(observation: JobInput): JobDecision {
  const { job } = observation;
  if (job.status?.outcome) return planSettlement(observation, job.status.outcome);
  const step = currentStep(job);
  const answered = step && recordedAnswer(observation, step);
  if (answered) return answered;
  const abort = abortOf(observation);
  return abort ? planAbort(observation, abort) : planProgress(observation);
}

function planProgress(observation: JobInput): JobDecision {
  const { job, now } = observation;
  const step = nextStep(job, job.spec.plan);
  if (step) return planStep(observation, step);
  if (job.status?.timeline?.executedAt === undefined) {
    const because = 'all steps are done';
    const findings = [jobFinding('Executed', 'True', 'AllDone', because)];
    return { type: 'Write', because, change: { findings, timeline: { executedAt: now.toISOString() } } };
  }
  const verification = planVerification(observation);
  if (verification) return verification;
  const after = nextStep(job, job.spec.onVerified);
  return after ? planStep(observation, after) : succeed(observation);
}

function succeed({ job: { spec, status } }: JobInput): JobDecision {
  const isHandedOff = [...spec.plan, ...spec.onVerified].some(
    (step) => stepName(step) === 'HandOff' && status?.steps?.some(({ id }) => id === step.id),
  );
  if (isHandedOff) return end(handedOff(status?.steps));
  const message = spec.verify ? 'the repair is verified' : 'all steps are done';
  return end({ class: 'Succeeded', reason: spec.verify ? 'Verified' : 'AllDone', message });
}

function handedOff(records: readonly JobStepStatus[] = []): JobOutcome {
  const message = records.at(-1)?.message ?? 'handed to a person';
  return { class: 'HandedOff', reason: 'HandedOff', message };
}

function planStep(observation: JobInput, step: JobStep): JobDecision {
  const record = stepRecord(observation.job, step.id);
  if (!record || record.state === 'Pending') return begin(observation, step, record);
  return isOpenRecord(record) ? planOpen(observation, step, record) : planFailed(observation, step, record);
}

function planOpen(observation: JobInput, step: JobStep, record: JobStepStatus): JobDecision {
  if (record.power?.notBefore !== undefined) {
    return planFallback(observation, step, record) ?? planCentral(observation, step, record);
  }
  if (step.executor !== 'Agent') return planCentral(observation, step, record);
  return planOtherWay(observation, step, record) ?? planAgentStep(observation, step, record);
}

function begin(observation: JobInput, step: JobStep, before: JobStepStatus | undefined): JobDecision {
  if (step.executor === 'Agent') {
    return planOtherWay(observation, step, before) ?? planRelease(observation, step, before);
  }
  const { job, node, now } = observation;
  const tries = (before?.tries ?? 0) + 1;
  const startedAt = now.toISOString();
  const bootIDBefore = bootIdOf(node) ?? job.spec.node.bootID;
  const boot = powerStep(step) || stepName(step) === 'AnswerProvider' ? { bootIDBefore } : {};
  const record: JobStepStatus = { id: step.id, state: 'Intended', tries, startedAt, ...boot };
  return { type: 'Write', because: `${step.step}: try ${tries}`, change: { step: record } };
}

/** Reasons of waits for others: a step that times out names what it waited for. */
const WHY: readonly string[] = ['Power', 'Releasing', 'Replacing'];

function planCentral({ job, now }: JobInput, step: JobStep, record: JobStepStatus): JobDecision {
  const isOverdue = stepEnd(step, record.startedAt, now) <= now;
  if (!isOverdue || step.onTimeout === 'RequestApproval') {
    return { type: 'RunStep', step, record, isOverdue, because: step.step };
  }
  const message = `not done in ${step.timeoutSeconds} s${waitText(job.status?.waiting, step, record)}`;
  const finishedAt = now.toISOString();
  // What was requested may still happen.
  const state = mayGoOff(record) || mayBeAnswered(record) ? 'Ambiguous' : 'Failed';
  const failed: JobStepStatus = { ...record, state, code: TIMED_OUT, message, finishedAt };
  return { type: 'Write', because: message, change: { step: failed } };
}

/** Returns the text of a wait for others; empty for one that its step explains. */
function waitText(waiting: Wait | undefined, step: JobStep, { answer }: JobStepStatus): string {
  if (!waiting) return '';
  const isForOthers = powerStep(step) !== undefined || answer !== undefined || WHY.includes(waiting.reason);
  return isForOthers ? `: ${waiting.message}` : '';
}

const CLASSES: Readonly<
  Record<Exclude<AfterFailure, 'Retry' | 'Continue' | 'RequestApproval'>, JobOutcome['class']>
> = {
  Fail: 'Transient',
  NextRung: 'Permanent',
  Ambiguous: 'Ambiguous',
};

function planFailed(observation: JobInput, step: JobStep, record: JobStepStatus): JobDecision {
  const next = afterFailure(step, record);
  if (next === 'Retry' || next === 'Continue') return begin(observation, step, record);
  const because = `${step.step} timed out`;
  if (next === 'RequestApproval') return { type: 'AskApproval', step, record, because };
  const { code = record.state, message = '' } = record;
  const kind = next === 'Fail' && isPermanent(record) ? 'Permanent' : CLASSES[next];
  return end({ class: kind, reason: code, message: `${step.id} ${step.step}: ${message}` });
}

/** Ends the job. The outcome is written before the grant is settled. */
function end(outcome: JobOutcome): JobDecision {
  return { type: 'Write', because: outcome.message ?? outcome.class, change: { outcome, release: null } };
}
