/** Finds what a job has done to its node. Pure. */
import type { JobStep, JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import { isDisruptive, stepName, stepRecord, TIMED_OUT } from '../../../api/status/step-records.ts';

export interface ActRecord {
  readonly step: JobStep;
  readonly record: JobStepStatus;
}

/** The steps that do not count as acts: what a cordon or a taint disturbs ends with it. */
const TAKEN_BACK: readonly (string | undefined)[] = ['Cordon', 'Taint'];

/** Returns the disruptive steps of which the job has a record. */
export function actsOf(job: RemedyOperationJob): readonly ActRecord[] {
  return [...job.spec.plan, ...job.spec.onVerified]
    .filter((step) => isDisruptive(step) && !TAKEN_BACK.includes(stepName(step)))
    .flatMap((step) => {
      const record = stepRecord(job, step.id);
      return record ? [{ step, record }] : [];
    });
}

/** Returns whether the node may be another one than before: false where each act was refused, or failed at once. */
export function mayHaveChanged(job: RemedyOperationJob): boolean {
  return actsOf(job).some(({ step, record: { state, code } }) => {
    if (state === 'Pending' || state === 'Skipped') return false;
    // A drain that failed has evicted pods, and what took too long was under way.
    return state !== 'Failed' || code === TIMED_OUT || step.executor !== 'Agent';
  });
}
