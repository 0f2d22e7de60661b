/** Reads the records of a job and its steps: what happened when, which step is next, and what a failed one leads to. Pure. */

import { isRecord, parseRecord, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { AgentStep, JobStep, JobStepStatus, RemedyOperationJob } from '../generated/types.ts';
import { ANNOTATION_NOTIFIED } from '../names.ts';
import { type Step, stepEntry, stepOfReference } from '../steps/steps.ts';

export const JOB_MOMENTS = ['fault', 'detected', 'granted', 'acted', 'verified', 'settled'] as const;
export type JobMoment = (typeof JOB_MOMENTS)[number];
export type JobMoments = Readonly<Record<JobMoment, string | undefined>>;

/** Returns when the job reached each of its moments. One that was not reached is undefined. */
export function jobMoments({ spec: { grant }, status }: RemedyOperationJob): JobMoments {
  const times = status?.timeline ?? {};
  return {
    fault: times.firstFaultAt,
    detected: times.detectedAt,
    granted: times.admittedAt ?? grant.issuedAt,
    acted: times.executedAt,
    verified: times.verifiedAt,
    settled: times.settledAt,
  };
}

export function stepRecord({ status }: RemedyOperationJob, id: string): JobStepStatus | undefined {
  return status?.steps?.find((record) => record.id === id);
}

/** Returns the answer of the agent to the try that is recorded; an older answer is ignored. */
export function answerOf(job: RemedyOperationJob, record: JobStepStatus): AgentStep | undefined {
  const answer = job.status?.agent?.steps.find(({ id }) => id === record.id);
  return answer !== undefined && answer.try >= (record.tries ?? 0) ? answer : undefined;
}

/** Tells whether the agent has begun the step. A step that waits is announced as Running without a start. */
export function isBegun({ state, startedAt }: AgentStep): boolean {
  return state === 'Running' && startedAt !== undefined;
}

/** Returns the step; undefined when this version does not know it. */
export function stepName({ step }: JobStep): Step | undefined {
  return stepOfReference(step);
}

/** Tells whether a step is disruptive. The risk is that of the catalog, not what the job calls it. A step that is unknown does nothing. */
export function isDisruptive(step: JobStep): boolean {
  const name = stepName(step);
  return name !== undefined && stepEntry(name).risk !== 'None';
}

export type OpenRecord = JobStepStatus & { readonly state: 'Intended' | 'Running' };

export function isOpenRecord(record: JobStepStatus | undefined): record is OpenRecord {
  return record?.state === 'Intended' || record?.state === 'Running';
}

const DONE: readonly string[] = ['Succeeded', 'Skipped', 'Undone'];

/** Returns the first step that is not done, and whose failure does not let the job continue. */
export function nextStep(job: RemedyOperationJob, steps: readonly JobStep[]): JobStep | undefined {
  return steps.find((step) => {
    const record = stepRecord(job, step.id);
    if (!record || record.state === 'Pending' || isOpenRecord(record)) return true;
    return !DONE.includes(record.state) && afterFailure(step, record) !== 'Continue';
  });
}

/** Returns the step at which the job is, also among those after the verification. */
export function currentStep(job: RemedyOperationJob): JobStep | undefined {
  return nextStep(job, [...job.spec.plan, ...job.spec.onVerified]);
}

export type AfterFailure = 'Retry' | 'Continue' | 'Fail' | 'NextRung' | 'RequestApproval' | 'Ambiguous';

export const TIMED_OUT = 'TimedOut';
export const AGENT_SILENT = 'AgentSilent';
/**
 * The codes with which the host, its configuration or the rule has to change first: another try, or another job with this step, is refused
 * as well.
 */
const PERMANENT: readonly string[] = [
  'NotAllowed',
  'NoDetector',
  'UnitNotFound',
  'BadConfig',
  'NotForAgent',
  'UnknownStep',
  'InvalidInput',
  'NoPowerSwitch',
  'PowerRefused',
  'AnswerRefused',
  'NoMachineSet',
  'NoGPU',
  'ProgramMissing',
  'DriverNotLoaded',
  'NotSupported',
  'NotPermitted',
  'GPULost',
];
/** The codes after which repeating the step would not help. */
const FINAL: readonly string[] = [
  AGENT_SILENT,
  'ApprovalRefused',
  'MachineRuns',
  'NotPoweredOff',
  'ResetFailed',
  'PartlyReset',
  ...PERMANENT,
];

export function isPermanent({ code = '' }: JobStepStatus): boolean {
  return PERMANENT.includes(code);
}

export function afterFailure(step: JobStep, record: JobStepStatus): AfterFailure {
  const { onFailure, onTimeout } = step;
  if (record.state === 'Ambiguous') return onFailure === 'Continue' ? 'Continue' : 'Ambiguous';
  if (record.code === TIMED_OUT) return onTimeout;
  return mayRetry(step, record) ? 'Retry' : onFailure;
}

function mayRetry({ retries = 0 }: JobStep, { code = '', tries = 1 }: JobStepStatus): boolean {
  return !FINAL.includes(code) && tries <= retries;
}

export function bootIdOf(node: KubeObject | undefined): string | undefined {
  return textAt(node, 'status', 'nodeInfo', 'bootID');
}

/** Returns the end of the time of a step that was begun. */
export function stepEnd({ timeoutSeconds }: JobStep, startedAt: string | undefined, now: Date): Date {
  const start = startedAt === undefined ? now.getTime() : Date.parse(startedAt);
  return new Date(start + timeoutSeconds * 1000);
}

/** When each notice was delivered: by receiver, and by the step of the job. */
export type Delivered = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Follows the id of a step for the notice that the machine needs no person any more. No step has a slash in its id. */
export const RESOLVED = '/resolved';

/** An annotation that somebody damaged counts as none: what was delivered is sent again. */
export function deliveredOf({ metadata }: Pick<KubeObject, 'metadata'>): Delivered {
  const found = parseRecord(metadata.annotations?.[ANNOTATION_NOTIFIED] ?? '{}') ?? {};
  return Object.fromEntries(Object.entries(found).filter(([, steps]) => isTimes(steps))) as Delivered;
}

function isTimes(steps: unknown): boolean {
  return isRecord(steps) && Object.values(steps).every((at) => typeof at === 'string');
}
