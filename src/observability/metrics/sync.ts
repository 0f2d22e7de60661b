/** The metrics of sync. */
import { defineCounter, defineGauge, defineHistogram } from '../../kube/process/metrics.ts';
import { HOOK_RESULTS } from '../../kube/webhook/request.ts';
import type { DeliveryTimes } from './delivery.ts';
import { CLUSTERS, PIPELINES } from './limits.ts';

const SERVED = { processes: ['sync'], writtenIn: 'src/sync/metrics.ts' } as const;

export const SYNC_CLUSTERS = defineGauge({
  ...SERVED,
  name: 'sync_clusters',
  help: 'Clusters by the sync state of their target commit.',
  labels: { state: { of: 'states', most: 12 } },
});

export const SYNC_RELEASES = defineGauge({
  ...SERVED,
  name: 'sync_releases',
  help: 'Releases by phase.',
  labels: { phase: { of: 'phases', most: 12 } },
});

export const SYNC_PIPELINE_HEADS = defineGauge({
  ...SERVED,
  name: 'sync_pipeline_heads',
  help: 'Pipelines by the verdict on the head of their branch.',
  labels: { verdict: { of: 'verdicts', most: 12 } },
});

export const SYNC_PIPELINE_STALE = defineGauge({
  ...SERVED,
  name: 'sync_pipeline_stale',
  help: '1 while the repository of a Pipeline could not be read for two intervals, so that newer commits are unknown.',
  labels: { pipeline: PIPELINES },
});

export const SYNC_RELEASE_STOPPED = defineGauge({
  ...SERVED,
  name: 'sync_release_stopped',
  help: '1 while the newest Release of a Pipeline is stopped until a person or another commit acts.',
  labels: { pipeline: PIPELINES },
});

export const SYNC_CLUSTER_REACHABLE = defineGauge({
  ...SERVED,
  name: 'sync_cluster_reachable',
  help: '1 while the API server of a Cluster answers; 0 also while that is unknown.',
  labels: { cluster: CLUSTERS },
});

export const SYNC_CONTACT_AGE = defineGauge({
  ...SERVED,
  name: 'sync_contact_age_seconds',
  help: 'Time since this process last got an answer from a cluster that it syncs.',
  labels: { cluster: CLUSTERS },
});

export const SYNC_OBJECTS = defineGauge({
  ...SERVED,
  name: 'sync_objects',
  help: 'Objects that git declares for a cluster, by the result of the last reconcile of this process.',
  labels: { cluster: CLUSTERS, state: ['applied', 'failed', 'other'] },
  maxSeries: 1500,
});

export const SYNC_DRIFT_CORRECTIONS = defineGauge({
  ...SERVED,
  name: 'sync_drift_corrections',
  help: 'How often objects of a cluster were written back because others had changed or deleted them.',
  labels: { cluster: CLUSTERS },
});

/**
 * These two have no label, so that they are 0 from the start: Prometheus does not count the first event of a series that appears with
 * it.
 */
export const SYNC_DRIFT_SECONDS = defineHistogram({
  ...SERVED,
  name: 'sync_drift_correction_seconds',
  help: 'Time from when sync found a difference until it was written back.',
  buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600],
});

export const SYNC_PUSH_SECONDS = defineHistogram({
  ...SERVED,
  name: 'sync_push_to_first_stage_seconds',
  help: 'Time from when sync heard of a commit, by webhook or poll, until its first stage began.',
  buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3600],
});

export const SYNC_WEBHOOK_REQUESTS = defineCounter({
  processes: ['sync'],
  option: '--webhook-port',
  writtenIn: 'src/cli/commands/sync/webhooks.ts',
  name: 'sync_webhook_requests_total',
  help: 'Requests at the webhook port, by result. Refused: not signed with the secret of the Pipeline.',
  labels: { result: HOOK_RESULTS },
});

/** The times that the objectives of sync and the figures of its releases are about, told by the parts that know them. */
export interface SyncTimes extends DeliveryTimes {
  /** A difference was written back, so many seconds after sync found it. */
  driftCorrected(seconds: number): void;
  /** The first stage of a commit began, so many seconds after sync heard of the commit. */
  firstStageBegan(seconds: number): void;
}

export const SYNC_METRICS = [
  SYNC_CLUSTERS,
  SYNC_RELEASES,
  SYNC_PIPELINE_HEADS,
  SYNC_PIPELINE_STALE,
  SYNC_RELEASE_STOPPED,
  SYNC_CLUSTER_REACHABLE,
  SYNC_CONTACT_AGE,
  SYNC_OBJECTS,
  SYNC_DRIFT_CORRECTIONS,
  SYNC_DRIFT_SECONDS,
  SYNC_PUSH_SECONDS,
  SYNC_WEBHOOK_REQUESTS,
];
