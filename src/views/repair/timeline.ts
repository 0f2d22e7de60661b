/** The moments of a repair: fault, detected, granted, acted, verified, settled. Pure. */
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { JOB_MOMENTS, type JobMoment, jobMoments } from '../../api/status/step-records.ts';
import { optional } from '../../kube/objects/optional.ts';
import { formatShare } from '../text/counts.ts';

export interface TimelineEntry {
  readonly what: JobMoment;
  /** Absent: not reached. */
  readonly at?: string;
  readonly because: string;
}

export function viewTimeline(job: RemedyOperationJob): readonly TimelineEntry[] {
  const { cause, grant, rung, verify } = job.spec;
  const moments = jobMoments(job);
  const reasons: Readonly<Record<JobMoment, string>> = {
    fault: cause.faultClass,
    detected: `rule ${cause.remedier} matched`,
    granted: `${grant.id}, for rung ${rung.name}`,
    acted: doneText(job),
    verified: verify ? 'its conditions held' : '',
    settled: job.status?.outcome?.class ?? '',
  };
  return JOB_MOMENTS.map((what) => {
    const at = moments[what];
    return { what, ...optional('at', at), because: at === undefined ? '' : reasons[what] };
  });
}

/** Without the steps that follow the verification. What was undone had succeeded. */
function doneText({ spec: { plan }, status }: RemedyOperationJob): string {
  const planned = new Set(plan.map(({ id }) => id));
  const done =
    status?.steps?.filter(({ id, state }) => planned.has(id) && ['Succeeded', 'Undone'].includes(state)) ??
    [];
  return `${formatShare(done.length, plan.length, 'step')} succeeded`;
}
