/** How the grant of a job is settled: one that was cancelled has used it where a step had begun that nothing takes back. Pure. */
import type { JobOutcome, JobStepStatus, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { GrantOutcome } from '../../../api/grants.ts';
import { actsOf } from './acts.ts';

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
  const acts = actsOf(job).filter(({ record }) => hasBegun(record, reason));
  const worst = WORST_FIRST.find((state) => acts.some(({ record }) => record.state === state));
  return worst ?? outcome;
}

const WORST_FIRST = ['Ambiguous', 'Failed', 'Succeeded'] as const;

/** A step that failed with the reason of the end was open then, and what it had begun is recorded as Ambiguous. */
function hasBegun({ state, code }: JobStepStatus, reason: string | undefined): boolean {
  return state !== 'Failed' || code !== reason;
}
