/** The jobs of each machine, and when the last one that did something ended. */
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { endOfJob } from '../live/readers/history.ts';
import { ageMsAt, type ReadTime } from './time-point.ts';

export interface JobTracker {
  of(machine: string): readonly RemedyOperationJob[];
  /** On the monotonic clock; undefined: none ended. */
  endedMs(machine: string): number | undefined;
  /** Whether it ended with this change. */
  put(job: RemedyOperationJob, before: RemedyOperationJob | undefined): boolean;
  remove(job: RemedyOperationJob): void;
}

export function createJobTracker({ readTime }: { readonly readTime: ReadTime }): JobTracker {
  const jobs = new Map<string, Map<string, RemedyOperationJob>>();
  const ends = new Map<string, number>();
  return {
    of: (machine) => [...(jobs.get(machine)?.values() ?? [])],
    endedMs: (machine) => ends.get(machine),
    put: (job, before) => {
      const machine = job.spec.machine.name;
      const present = jobs.get(machine) ?? new Map<string, RemedyOperationJob>();
      jobs.set(machine, present.set(job.metadata.name, job));
      const end = endOfJob(job);
      if (end === undefined || end === (before && endOfJob(before))) return false;
      const point = readTime();
      // Of one that had ended before we observed it only its own timestamp tells.
      const endMs = point.ms - (before ? 0 : (ageMsAt(point, end) ?? 0));
      ends.set(machine, Math.max(endMs, ends.get(machine) ?? -Infinity));
      return true;
    },
    remove: ({ spec, metadata }) => {
      const present = jobs.get(spec.machine.name);
      present?.delete(metadata.name);
      if (present?.size === 0) jobs.delete(spec.machine.name);
    },
  };
}
