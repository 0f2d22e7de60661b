/** Decides how long before an event its machine is prepared: the usual time of a drain in its pool, and a margin. Pure. */
import type { MaintenanceEvent, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { stepOfReference } from '../../api/steps/steps.ts';

/** The drain time of a pool with too few finished drains: as long as the disruption budgets of a typical workload let a drain take. */
export const DEFAULT_DRAIN_SECONDS = 900;
/** The number of drains from which on the 95th percentile is not just the longest one. */
const ENOUGH_DRAINS = 20;
const MARGIN_SECONDS = 600;

export function isDrain({ step }: RemedyOperationJob['spec']['plan'][number]): boolean {
  return stepOfReference(step) === 'Drain';
}

/** Returns the 95th percentile of the finished drains of these jobs, in whole minutes. */
export function usualDrainSeconds(jobs: Iterable<RemedyOperationJob>): number {
  const times = [...jobs].flatMap(drainsOf).toSorted((a, b) => a - b);
  const usual = times[Math.ceil(times.length * 0.95) - 1];
  if (usual === undefined || times.length < ENOUGH_DRAINS) return DEFAULT_DRAIN_SECONDS;
  return Math.ceil(usual / 60) * 60;
}

function drainsOf({ spec, status }: RemedyOperationJob): readonly number[] {
  const drains = new Set(spec.plan.filter(isDrain).map(({ id }) => id));
  return (status?.steps ?? []).flatMap(({ id, state, startedAt, finishedAt }) => {
    const [start, end] = [parseTime(startedAt), parseTime(finishedAt)];
    // What was undone later had succeeded.
    const isDone = state === 'Succeeded' || state === 'Undone';
    return drains.has(id) && isDone && start && end ? [Math.max(0, (+end - +start) / 1000)] : [];
  });
}

/**
 * Returns when the preparation begins: at once without notBefore. While the report stays the same it only moves to an earlier
 * time: otherwise drains that become faster would end a preparation that has begun.
 */
export function actTime({ metadata, spec, status }: MaintenanceEvent, drainSeconds: number, now: Date): Date {
  const notBefore = parseTime(spec.notBefore);
  if (!notBefore) return parseTime(metadata.creationTimestamp) ?? now;
  const found = new Date(notBefore.getTime() - (drainSeconds + MARGIN_SECONDS) * 1000);
  const kept = status?.observedGeneration === metadata.generation ? parseTime(status?.actAt) : undefined;
  return kept && kept < found ? kept : found;
}
