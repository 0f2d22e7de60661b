/** Metrics of repairs. Rules and rungs are few; machines are counted, never named. */
import type { RemedyOperationJob, RemedyOperationJobSpec } from '../../api/generated/types.ts';
import type { Histogram, Metrics } from '../../kube/process/metrics.ts';
import type { OwnJobStatus } from './status.ts';

export interface RemedyMetrics {
  /**
   * After the write that records that the grant is settled: each job has one, whichever process writes it, so no job is counted
   * twice. One is missed if the process ends between the write and this call, or if the answer to the write is lost.
   */
  settled(job: Pick<RemedyOperationJob, 'spec'>, status: Pick<OwnJobStatus, 'outcome' | 'timeline'>): void;
}

// A condition is reported within two seconds, and rules wait for minutes.
const DETECTION_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800];
// The Defender answers within a second, or denies for minutes to hours.
const DECISION_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400];
// From the restart of a service to the ladder that ends at the fourth rung.
const HEALING_SECONDS = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

export function registerRemedyMetrics(metrics: Metrics): RemedyMetrics {
  const jobs = metrics.counter({
    name: 'remedy_jobs_total',
    help: 'Repair jobs that ended, by rule, rung, class of the fault and class of the outcome.',
    labels: ['rule', 'rung', 'fault', 'outcome'],
  });
  const seconds = (name: string, help: string, buckets: readonly number[]): Histogram<'rule'> =>
    metrics.histogram({ name: `remedy_${name}_seconds`, help, labels: ['rule'], buckets });
  const detection = seconds(
    'detection',
    'Time from the start of a fault until its rule matched, once for each case.',
    DETECTION_SECONDS,
  );
  const decision = seconds(
    'decision',
    'Time from the match of a rule to the grant of the first job of the case.',
    DECISION_SECONDS,
  );
  const healing = seconds(
    'healing',
    'Time from the match of a rule until its repair was verified, with the attempts before.',
    HEALING_SECONDS,
  );
  return {
    settled: ({ spec }, { outcome, timeline = {} }) => {
      const { remedier: rule, faultClass: fault } = spec.cause;
      const { firstFaultAt, detectedAt, admittedAt, verifiedAt } = timeline;
      jobs.add({ rule, rung: spec.rung.name, fault, outcome: outcome?.class ?? 'unknown' });
      if (isFirst(spec)) {
        observe(detection, rule, firstFaultAt, detectedAt);
        observe(decision, rule, detectedAt, admittedAt);
      }
      if (outcome?.class === 'Succeeded') observe(healing, rule, detectedAt, verifiedAt);
    },
  };
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
