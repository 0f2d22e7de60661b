/** How the grant of a job is settled: one that was cancelled has used it where a step had begun that nothing takes back. Pure. */
import type { JobOutcome, JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../api/grants.ts';
import { isDisruptive, stepName, stepRecord } from './records.ts';

const GRANT_OUTCOMES: Readonly<Record<JobOutcome['class'], GrantOutcome>> = {
  Succeeded: 'Succeeded',
  HandedOff: 'Succeeded',
  Transient: 'Failed',
  Permanent: 'Failed',
  Ambiguous: 'Ambiguous',
  Superseded: 'Unused',
  Cancelled: 'Unused',
};

export function grantOutcome(job: RemedyOperationJob, { class: kind, reason }: JobOutcome): GrantOutcome {
  const outcome = GRANT_OUTCOMES[kind];
  if (kind !== 'Cancelled') return outcome;
  const acts = actsOf(job).filter((record) => hasBegun(record, reason));
  const worst = WORST_FIRST.find((state) => acts.some((record) => record.state === state));
  return worst ?? outcome;
}

const WORST_FIRST = ['Ambiguous', 'Failed', 'Succeeded'] as const;

/** What a cordon or a taint disturbs ends with it. */
const TAKEN_BACK: readonly (string | undefined)[] = ['Cordon', 'Taint'];

function actsOf(job: RemedyOperationJob): readonly JobStepStatus[] {
  return [...job.spec.plan, ...job.spec.onVerified]
    .filter((step) => isDisruptive(step) && !TAKEN_BACK.includes(stepName(step)))
    .flatMap((step) => stepRecord(job, step.id) ?? []);
}

/** A step that failed with the reason of the end was open then, and what it had begun is recorded as Ambiguous. */
function hasBegun({ state, code }: JobStepStatus, reason: string | undefined): boolean {
  return state !== 'Failed' || code !== reason;
}
