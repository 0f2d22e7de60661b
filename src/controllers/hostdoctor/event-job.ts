/** The job that prepares the machine of an event. Pure. */
import type { MaintenanceEvent, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { FINALIZER_SETTLE, MAINTENANCE_REMEDIER } from '../../api/names.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { isDrain } from './drain-time.ts';

/** The one that is at work, also when an earlier event of the machine began it; otherwise the last one since the event. */
export function jobOfEvent(
  { metadata }: Pick<MaintenanceEvent, 'metadata'>,
  jobs: readonly RemedyOperationJob[],
): RemedyOperationJob | undefined {
  const reported = parseTime(metadata.creationTimestamp);
  const own = jobs
    .filter(({ spec }) => spec.cause.remedier === MAINTENANCE_REMEDIER)
    .toSorted((a, b) => +createdAt(a) - +createdAt(b));
  return own.findLast(holdsNode) ?? own.findLast((job) => !reported || createdAt(job) >= reported);
}

/** It may still act, or has not returned its cordon and its grant. */
export function holdsNode({ status, metadata }: RemedyOperationJob): boolean {
  return status?.outcome === undefined || (metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
}

function createdAt({ metadata, spec }: RemedyOperationJob): Date {
  return parseTime(metadata.creationTimestamp) ?? new Date(spec.grant.issuedAt);
}

/** The pods are evicted; of a job that drains nothing, all steps are done. */
export function hasPrepared({ spec, status }: RemedyOperationJob): boolean {
  const drains = spec.plan.filter(isDrain);
  if (drains.length === 0) return conditionStatus(status?.conditions, 'Executed') === 'True';
  const succeeded = new Set(
    (status?.steps ?? []).filter(({ state }) => state === 'Succeeded').map(({ id }) => id),
  );
  return drains.every(({ id }) => succeeded.has(id));
}
