/** Builds the part of the status of a job that its controller writes. Pure. */
import type {
  JobStepStatus,
  JobTimeline,
  RemedyOperationJob,
  RemedyOperationJobStatus,
} from '../../api/generated/types.ts';
import { remedyOperationJobPhases } from '../../api/status/phase-tables.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import { type ConditionUpdate, conditionStatus, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { type JobChange, jobFinding } from './plan/decision.ts';

/** All that the manager of jobs owns: what it leaves out would be removed. */
export type OwnJobStatus = Omit<RemedyOperationJobStatus, 'agent'>;

const MAX_MESSAGE = 256;

export function jobStatus(job: RemedyOperationJob, change: JobChange, now: Date): OwnJobStatus {
  const { metadata } = job;
  const { status = { conditions: [] } } = job;
  const conditions = withConditions(status.conditions, findingsOf(job, change), now, metadata.generation);
  const steps = stepsAfter(status.steps, change);
  const waiting = change.wait && waitingSince(change.wait, status.waiting, now);
  return {
    ...optional('observedGeneration', metadata.generation),
    phase: remedyOperationJobPhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', waiting),
    ...kept(status, change),
    ...(steps.length > 0 ? { steps } : {}),
    ...optional('outcome', outcomeAfter(job, change)),
    timeline: { ...knownTimes(job), ...status.timeline, ...change.timeline },
  };
}

/** Returns grant, release, drain and replacement after a change. What is not changed stays. */
function kept(
  status: OwnJobStatus,
  { release, grant, drain, replacement }: JobChange,
): Partial<OwnJobStatus> {
  return {
    ...optional('grant', grant ?? status.grant),
    ...(release === null ? {} : optional('release', release ?? status.release)),
    ...optional('drain', drain ?? status.drain),
    ...optional('replacement', replacement ?? status.replacement),
  };
}

function outcomeAfter({ status }: RemedyOperationJob, { outcome }: JobChange): OwnJobStatus['outcome'] {
  if (status?.outcome || !outcome) return status?.outcome;
  const { message } = outcome;
  return { ...outcome, ...optional('message', message && truncate(message, MAX_MESSAGE)) };
}

function stepsAfter(
  before: readonly JobStepStatus[] = [],
  { step, undone = [] }: JobChange,
): readonly JobStepStatus[] {
  const changed = before.map((record) => {
    if (record.id === step?.id) return shortened(step);
    return undone.includes(record.id) ? { ...record, state: 'Undone' as const } : record;
  });
  const isNew = step !== undefined && !before.some(({ id }) => id === step.id);
  return isNew ? [...changed, shortened(step)] : changed;
}

function shortened(record: JobStepStatus): JobStepStatus {
  return { ...record, ...optional('message', record.message && truncate(record.message, MAX_MESSAGE)) };
}

/** Returns the conditions that a change names, and those that follow from it. */
function findingsOf({ status }: RemedyOperationJob, change: JobChange): readonly ConditionUpdate[] {
  const { findings = [], outcome } = change;
  if (outcome) {
    return [jobFinding('Settled', 'False', outcome.class, outcome.message ?? outcome.class), ...findings];
  }
  if (status?.outcome) return findings;
  const isExecuted = conditionStatus(status?.conditions, 'Executed') === 'True';
  const executed = isExecuted ? [] : [jobFinding('Executed', 'False', 'StepsLeft', 'steps are left')];
  return [progressFinding(change), ...executed, ...findings];
}

/** Returns the condition Progressing. A job that waits for a change of something else does not progress. */
function progressFinding({ wait, step }: JobChange): ConditionUpdate {
  if (wait) return jobFinding('Progressing', wait.isBlocked ? 'False' : 'True', wait.reason, wait.message);
  const message = step ? `step ${step.id} is ${step.state}` : 'the job goes on';
  return jobFinding('Progressing', 'True', 'Working', message);
}

/** Returns the times before the job, by its cause and its grant. */
function knownTimes({ spec: { cause, grant } }: RemedyOperationJob): JobTimeline {
  return {
    ...optional('firstFaultAt', cause.faultAt),
    ...optional('detectedAt', cause.detectedAt),
    admittedAt: grant.issuedAt,
  };
}
