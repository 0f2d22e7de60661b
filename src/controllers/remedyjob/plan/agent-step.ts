/**
 * Plans a step that the agent carries out: it is released, renewed until the agent has begun it, and recorded as the agent
 * answers. A try that may have begun is never released again: only another try, after an answer that rules out the first. Pure.
 */
import type { AgentStep, JobStep, JobStepStatus } from '../../../api/generated/types.ts';
import {
  AGENT_SILENT,
  answerOf,
  bootIdOf,
  isBegun,
  isDisruptive,
  isOpenRecord,
  stepEnd,
  stepName,
  stepRecord,
  TIMED_OUT,
} from '../../../api/status/step-records.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { JobInput } from '../observe/observe.ts';
import { isSwitchedOn, poweredOn } from '../power/power-records.ts';
import { type JobDecision, jobFinding, type StepState } from './decision.ts';
import { hasOtherWay } from './reboot-ways.ts';

const POLL_MS = 5000;
/** A release that ends sooner is renewed, so that a slow watch of the agent does not lose it. */
const RENEW_MS = 20_000;
/** The agent ends a step by its own clock, and then reports it: after a reboot only when it is back. */
const REPORT_MS = 60_000;
/** Refusals that another try with a fresh release and grant answers. */
const STALE: readonly string[] = ['ReleaseExpired', 'GrantExpired', 'OldTry'];

/** Releases the first try of a step, and each further one. */
export function planRelease(
  { job, node, now }: JobInput,
  step: JobStep,
  before: JobStepStatus | undefined,
): JobDecision {
  const bootID = bootIdOf(node) ?? job.spec.node.bootID;
  const tries = (before?.tries ?? 0) + 1;
  const isStale = before !== undefined && isOpenRecord(before);
  const startedAt = isStale ? (before.startedAt ?? now.toISOString()) : now.toISOString();
  const record: JobStepStatus = { id: step.id, state: 'Intended', tries, startedAt, bootIDBefore: bootID };
  return { type: 'ReleaseStep', step, record, bootID, because: `${step.step}: try ${tries}` };
}

/** Returns the end of an open record as the node or the agent shows it; undefined while neither does. */
export function recordedAnswer(observation: JobInput, step: JobStep): JobDecision | undefined {
  const { job } = observation;
  const record = stepRecord(job, step.id);
  if (!isOpenRecord(record) || step.executor !== 'Agent') return undefined;
  const answer = answerOf(job, record);
  const rebooted = observedReboot(observation, step, record);
  if (rebooted !== undefined) {
    const message = `the node has booted: ${rebooted}`;
    const booted = { ...withPowerOn(record, observation.now), bootIDAfter: rebooted, message };
    return end(observation, { ...booted, state: 'Succeeded' }, answer);
  }
  if (record.power || !answer || hasOtherWay(step, answer)) return undefined;
  return isFinal(answer) ? end(observation, { ...record, ...stateOf(step, answer) }, answer) : undefined;
}

/** A machine that has booted after it was switched on is on. */
function withPowerOn(record: JobStepStatus, now: Date): JobStepStatus {
  return isSwitchedOn(record) ? { ...record, ...optional('power', poweredOn(record, now)) } : record;
}

/** Tells whether an answer ends the try. A refusal of a release that was too old leads to another try. */
function isFinal({ state, code = '' }: AgentStep): boolean {
  return state !== 'Running' && !(state === 'Refused' && STALE.includes(code));
}

/** Returns the new boot that the Node reports, also when the agent does not come back. */
function observedReboot(
  { job, node }: JobInput,
  step: JobStep,
  { bootIDBefore = job.spec.node.bootID }: JobStepStatus,
): string | undefined {
  const bootID = bootIdOf(node);
  const isReboot = stepName(step) === 'Reboot';
  return isReboot && bootID !== undefined && bootID !== bootIDBefore ? bootID : undefined;
}

/** Returns the state of a step by the answer of the agent. A reboot without another boot has failed, whatever is reported. */
function stateOf(
  step: JobStep,
  answer: AgentStep,
): { readonly state: StepState; readonly code?: string; readonly message?: string } {
  const { state } = answer;
  if (state === 'Succeeded' && stepName(step) === 'Reboot' && hasSameBoot(answer)) {
    const message = 'the agent reports a reboot, and the boot id of the node is the same as before';
    return { state: 'Failed', code: 'SameBoot', message };
  }
  if (state === 'Refused' || state === 'Failed') return { state: 'Failed', code: answer.code ?? state };
  return { state: state === 'Ambiguous' ? 'Ambiguous' : 'Succeeded' };
}

function hasSameBoot({ bootIDBefore, bootIDAfter }: AgentStep): boolean {
  return bootIDAfter === undefined || bootIDAfter === bootIDBefore;
}

function end({ now }: JobInput, record: JobStepStatus, answer: AgentStep | undefined): JobDecision {
  const { code, message, outputDigest, bootIDBefore, bootIDAfter } = answer ?? {};
  const step: JobStepStatus = {
    ...optional('code', code),
    ...optional('message', message),
    ...optional('outputDigest', outputDigest),
    ...optional('bootIDBefore', bootIDBefore),
    ...optional('bootIDAfter', bootIDAfter),
    ...record,
    finishedAt: now.toISOString(),
  };
  return { type: 'Write', because: `${record.id}: ${record.state}`, change: { step, release: null } };
}

/** Plans a step whose record is open and has no answer that ends it. */
export function planAgentStep(observation: JobInput, step: JobStep, record: JobStepStatus): JobDecision {
  const { job, now } = observation;
  const answer = answerOf(job, record);
  if (answer && isBegun(answer)) return planBegun(observation, step, { record, answer });
  if (stepEnd(step, record.startedAt, now) <= now) return planSilent(observation, { step, record, answer });
  return planReleased(observation, step, { record, answer });
}

/** Plans a step that the agent has not begun, and still may. */
function planReleased(
  observation: JobInput,
  step: JobStep,
  { record, answer }: Omit<Unanswered, 'step'>,
): JobDecision {
  const { job } = observation;
  if (answer?.state === 'Refused') return planRelease(observation, step, record);
  if (isReleaseDue(observation)) {
    const bootID = record.bootIDBefore ?? job.spec.node.bootID;
    return { type: 'ReleaseStep', step, record, bootID, because: `${step.step}: the release ends soon` };
  }
  const message = answer?.message ?? `the agent has not begun ${step.step} yet`;
  return wait(observation, step, message);
}

function isReleaseDue({ job: { status }, now }: JobInput): boolean {
  const notAfter = status?.release?.notAfter;
  return notAfter === undefined || Date.parse(notAfter) - now.getTime() < RENEW_MS;
}

interface Begun {
  readonly record: JobStepStatus;
  readonly answer: AgentStep;
}

/** Plans a step that the agent has begun. It cannot be taken back, so that the release is withdrawn. */
function planBegun(observation: JobInput, step: JobStep, { record, answer }: Begun): JobDecision {
  const { now, job } = observation;
  const over = stepEnd(step, answer.startedAt, now).getTime() + REPORT_MS;
  if (over <= now.getTime()) {
    const message = `the agent began it at ${answer.startedAt} and reports no end`;
    const state = isDisruptive(step) ? 'Ambiguous' : 'Failed';
    return end(observation, { ...record, state, code: TIMED_OUT, message }, undefined);
  }
  if (record.state === 'Intended' || job.status?.release) {
    const change = { step: { ...record, state: 'Running' }, release: null } as const;
    return { type: 'Write', because: `${step.step} has begun`, change };
  }
  return wait(observation, step, `${step.step} is carried out`);
}

interface Unanswered {
  readonly step: JobStep;
  readonly record: JobStepStatus;
  readonly answer: AgentStep | undefined;
}

/**
 * Plans a step whose time is over. An agent that announced that it waits has not begun. One that does not answer may have,
 * unless the step disturbs nothing.
 */
function planSilent(observation: JobInput, { step, record, answer }: Unanswered): JobDecision {
  const seconds = step.timeoutSeconds;
  if (answer) {
    const message = `not begun in ${seconds} s: ${answer.message ?? answer.code ?? 'the agent waits'}`;
    return end(observation, { ...record, state: 'Failed', code: TIMED_OUT, message }, undefined);
  }
  const state = isDisruptive(step) ? 'Ambiguous' : 'Failed';
  const message = `no answer of the agent in ${seconds} s`;
  return end(observation, { ...record, state, code: AGENT_SILENT, message }, undefined);
}

function wait({ job, now }: JobInput, step: JobStep, message: string): JobDecision {
  const blocker = { kind: 'Machine', name: job.spec.machine.name };
  const findings = [jobFinding('Executed', 'False', stepName(step) ?? 'Running', message)];
  return {
    type: 'Wait',
    because: message,
    change: { findings, wait: { reason: 'Agent', message, blocker } },
    requeueAt: new Date(now.getTime() + POLL_MS),
  };
}
