/** Which jobs that ended are deleted: they are the history that facts and counts are read from. Pure. */
import { RISKS } from '../../../api/enums.ts';
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import { firstMoment, secondsAfter } from '../../../os/dates.ts';
import type { FactRef } from '../../../rules/compiled-rule.ts';
import { beginOf, endOf, isJobAtWork } from './jobs.ts';

export interface Retention {
  readonly ttlSeconds: number;
  readonly historyLimit: number;
  /** The longest history that any rule reads: no limit deletes what is younger. */
  readonly historySeconds: number;
}

/** The defaults of the CRD: for jobs whose rule was deleted. */
export const DEFAULT_RETENTION = { ttlSeconds: 1_209_600, historyLimit: 200 } as const;

/** Repairs that disrupted a node are counted for a week. */
const DISRUPTIVE_SECONDS = 604_800;

export interface RetentionPlan {
  readonly expired: readonly RemedyOperationJob[];
  /** When the next one expires. */
  readonly nextAt?: Date;
}

/** Returns how far back the facts that are counted from jobs reach: those of the machine itself, and of the fleet. */
export function longestHistory(reads: readonly FactRef[]): number {
  const windows = reads
    .filter(({ fact }) => fact === 'history' || fact === 'fleet')
    .map(({ params }) => Number(params['windowSeconds']));
  return Math.max(0, ...windows);
}

/** `jobs` are those of one rule. */
export function planRetention(
  jobs: readonly RemedyOperationJob[],
  retention: Retention,
  now: Date,
): RetentionPlan {
  const ended = jobs
    .filter((job) => !isJobAtWork(job) && job.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => +beginOf(b) - +beginOf(a));
  const due = ended.map((job, rank) => ({ job, at: expiryOf(job, rank, retention) }));
  const later = firstMoment(due.filter(({ at }) => at > now).map(({ at }) => at));
  return {
    expired: due.filter(({ at }) => at <= now).map(({ job }) => job),
    ...(later ? { nextAt: later } : {}),
  };
}

/** `rank` 0 is the newest. */
function expiryOf(job: RemedyOperationJob, rank: number, retention: Retention): Date {
  const { ttlSeconds, historyLimit, historySeconds } = retention;
  const isDisruptive = RISKS.indexOf(job.spec.risk) >= RISKS.indexOf('Node');
  const least = Math.max(historySeconds, isDisruptive ? DISRUPTIVE_SECONDS : 0);
  const seconds = rank >= historyLimit ? least : Math.max(ttlSeconds, least);
  return secondsAfter(endOf(job), seconds);
}
