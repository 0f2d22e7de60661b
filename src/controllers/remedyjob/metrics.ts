/** Metrics of repairs. Rules and rungs are few; machines are counted, never named. */
import type { RemedyOperationJob, RemedyOperationJobSpec } from '../../api/generated/types.ts';
import type { Histogram, Metrics } from '../../kube/process/metrics.ts';
import {
  REMEDY_DECISION,
  REMEDY_DETECTION,
  REMEDY_FIRST_STEP,
  REMEDY_HEALING,
  REMEDY_JOBS,
  REMEDY_REPEATS,
} from '../../observability/metrics/repair.ts';
import type { OwnJobStatus } from './status.ts';

export interface RemedyMetrics {
  /** A job was observed that has not ended. */
  began(job: Pick<RemedyOperationJob, 'spec'>): void;
  /**
   * After the write that records that the grant is settled: each job has one, whichever process writes it, so no job is counted
   * twice. `others` are the jobs that are kept. One is missed if the process ends between the write and this call, or if the
   * answer to the write is lost.
   */
  settled(job: SettledJob, status: SettledStatus, others: readonly RemedyOperationJob[]): void;
}

type SettledJob = Pick<RemedyOperationJob, 'spec'>;
type SettledStatus = Pick<OwnJobStatus, 'outcome' | 'timeline' | 'steps'>;

export function registerRemedyMetrics(metrics: Metrics): RemedyMetrics {
  const jobs = metrics.counter(REMEDY_JOBS);
  const repeats = metrics.counter(REMEDY_REPEATS);
  const times: JobTimes = {
    detection: metrics.histogram(REMEDY_DETECTION),
    decision: metrics.histogram(REMEDY_DECISION),
    firstStep: metrics.histogram(REMEDY_FIRST_STEP),
    healing: metrics.histogram(REMEDY_HEALING),
  };
  return {
    began: ({ spec }) => {
      for (const each of Object.values(times)) each.begin({ rule: spec.cause.remedier });
    },
    settled: ({ spec }, status, others) => {
      const { remedier: rule, faultClass: fault } = spec.cause;
      const outcome = status.outcome?.class ?? 'unknown';
      jobs.add({ rule, rung: spec.rung.name, fault, outcome });
      observeTimes(times, spec, status);
      if (isRepeat({ spec, status }, others)) repeats.add({ rule });
    },
  };
}

type JobTimes = Readonly<Record<'detection' | 'decision' | 'firstStep' | 'healing', Histogram<'rule'>>>;

function observeTimes(times: JobTimes, spec: RemedyOperationJobSpec, status: SettledStatus): void {
  const { remedier: rule } = spec.cause;
  const { outcome, timeline: { firstFaultAt, detectedAt, admittedAt, verifiedAt } = {}, steps } = status;
  if (isFirst(spec)) {
    observe(times.detection, rule, firstFaultAt, detectedAt);
    observe(times.decision, rule, detectedAt, admittedAt);
    observe(times.firstStep, rule, detectedAt, firstStart(steps));
  }
  if (outcome?.class === 'Succeeded') observe(times.healing, rule, detectedAt, verifiedAt);
}

function firstStart(steps: SettledStatus['steps'] = []): string | undefined {
  const starts = steps.flatMap(({ startedAt }) => startedAt ?? []);
  return starts.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];
}

const REPEAT_MS = 7 * 86_400_000;

/** Another case of the same rule on the same machine was repaired within 7 days before: jobs are kept for longer by default. */
function isRepeat(
  { spec, status }: { readonly spec: RemedyOperationJobSpec; readonly status: SettledStatus },
  others: readonly RemedyOperationJob[],
): boolean {
  const healedAt = Date.parse(status.timeline?.verifiedAt ?? '');
  if (status.outcome?.class !== 'Succeeded' || Number.isNaN(healedAt)) return false;
  return others.some((other) => isSameFault(other.spec, spec) && hasHealedBefore(other, healedAt));
}

function isSameFault(a: RemedyOperationJobSpec, b: RemedyOperationJobSpec): boolean {
  const isSame = a.machine.name === b.machine.name && a.cause.remedier === b.cause.remedier;
  return isSame && a.cause.case !== b.cause.case;
}

function hasHealedBefore({ status }: RemedyOperationJob, healedMs: number): boolean {
  const ageMs = healedMs - Date.parse(status?.timeline?.verifiedAt ?? '');
  return status?.outcome?.class === 'Succeeded' && ageMs >= 0 && ageMs <= REPEAT_MS;
}

/** Later attempts and rungs have the detection of the first. */
function isFirst({ rung, attempt }: RemedyOperationJobSpec): boolean {
  return rung.index === 1 && attempt === 1;
}

/** A time that is not known is not observed. The clock of the process may have been set back in between. */
function observe(
  histogram: Histogram<'rule'>,
  rule: string,
  from: string | undefined,
  to: string | undefined,
): void {
  if (from === undefined || to === undefined) return;
  histogram.observe({ rule }, Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000));
}
