/** The moments of a repair: fault, detected, granted, acted, verified, settled. Pure. */
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { formatShare } from '../text/counts.ts';

export const MOMENTS = ['fault', 'detected', 'granted', 'acted', 'verified', 'settled'] as const;

export interface TimelineEntry {
  readonly what: (typeof MOMENTS)[number];
  /** Absent: not reached. */
  readonly at?: string;
  readonly because: string;
}

export function viewTimeline(job: RemedyOperationJob): readonly TimelineEntry[] {
  const { cause, grant, rung, verify } = job.spec;
  const times = job.status?.timeline ?? {};
  const moments: Readonly<Record<TimelineEntry['what'], readonly [string | undefined, string]>> = {
    fault: [times.firstFaultAt, cause.faultClass],
    detected: [times.detectedAt, `rule ${cause.remedier} matched`],
    granted: [times.admittedAt ?? grant.issuedAt, `${grant.id}, for rung ${rung.name}`],
    acted: [times.executedAt, doneText(job)],
    verified: [times.verifiedAt, verify ? 'its conditions held' : ''],
    settled: [times.settledAt, job.status?.outcome?.class ?? ''],
  };
  return MOMENTS.map((what) => {
    const [at, because] = moments[what];
    return { what, ...optional('at', at), because: at === undefined ? '' : because };
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
