/** The job that prepares the machine of an event. Pure. */
import type { MaintenanceEvent, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { MAINTENANCE_REMEDIER } from '../../api/names.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { byBegin, isJobAtWork } from '../remedy/case/jobs.ts';
import { isDrain } from './drain-time.ts';

/** The one that is at work, also when an earlier event of the machine began it; otherwise the last one since the event. */
export function jobOfEvent(
  { metadata }: Pick<MaintenanceEvent, 'metadata'>,
  jobs: readonly RemedyOperationJob[],
): RemedyOperationJob | undefined {
  const reported = parseTime(metadata.creationTimestamp);
  const own = jobs.filter(({ spec }) => spec.cause.remedier === MAINTENANCE_REMEDIER).toSorted(byBegin);
  return own.findLast(isJobAtWork) ?? own.findLast((job) => !reported || createdAt(job) >= reported);
}

function createdAt({ metadata, spec }: RemedyOperationJob): Date {
  return parseTime(metadata.creationTimestamp) ?? new Date(spec.grant.issuedAt);
}

/** The pods are gone; of a job that drains nothing, all steps are done. */
export function hasPrepared({ spec, status }: RemedyOperationJob): boolean {
  const drains = spec.plan.filter(isDrain);
  if (drains.length === 0) return conditionStatus(status?.conditions, 'Executed') === 'True';
  const succeeded = new Set(
    (status?.steps ?? []).filter(({ state }) => state === 'Succeeded').map(({ id }) => id),
  );
  return drains.every(({ id }) => succeeded.has(id));
}
