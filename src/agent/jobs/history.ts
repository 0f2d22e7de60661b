/** Steps that were begun on this host. Pure. */
import type { Step } from '../../api/steps/steps.ts';
import type { JobStepProgress, JobsState } from '../journal/jobs.ts';

export function begunSteps(jobs: JobsState, action: Step, since: Date): readonly JobStepProgress[] {
  const at = since.toISOString();
  return [...jobs.values()].filter(
    (each) => each.action === action && each.state !== 'Refused' && each.at > at,
  );
}
