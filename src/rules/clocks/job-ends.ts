/** When the last job of each machine that did something ended, by our own clock. */
import type { JobStepStatus, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { ageMsAt, type TimePoint } from './time-point.ts';

export interface JobEnds {
  observe(job: RemedyOperationJob, before: RemedyOperationJob | undefined, point: TimePoint): void;
  /** On the monotonic clock; undefined: none ended. */
  endedMs(machine: string): number | undefined;
}

export function createJobEnds(): JobEnds {
  const ends = new Map<string, number>();
  return {
    endedMs: (machine) => ends.get(machine),
    observe: (job, before, point) => {
      if (!hasEnded(before, job)) return;
      const machine = job.spec.machine.name;
      // Of one that had ended before we observed it only its own timestamp tells.
      const endMs = point.ms - (before ? 0 : (ageMsAt(point, endOfJob(job)) ?? 0));
      ends.set(machine, Math.max(endMs, ends.get(machine) ?? -Infinity));
    },
  };
}

/** Tells whether the job ended with this change. */
export function hasEnded(
  before: RemedyOperationJob | undefined,
  after: RemedyOperationJob | undefined,
): boolean {
  const end = after && endOfJob(after);
  return end !== undefined && end !== (before && endOfJob(before));
}

/** When its last step ended, by the clock of the controllers; undefined for a job that did nothing, or is not finished. */
export function endOfJob({ status }: RemedyOperationJob): string | undefined {
  const begun = (status?.steps ?? []).filter(hasStepBegun);
  if (!status?.outcome || begun.length === 0) return undefined;
  const { settledAt, verifiedAt, executedAt } = status.timeline ?? {};
  const finished = begun.flatMap(({ finishedAt, startedAt }) => finishedAt ?? startedAt ?? []).toSorted();
  return [settledAt, verifiedAt, executedAt].find((at) => at !== undefined) ?? finished.at(-1);
}

export function hasStepBegun({ state, startedAt }: JobStepStatus): boolean {
  return state !== 'Pending' && state !== 'Skipped' && parseTime(startedAt) !== undefined;
}
