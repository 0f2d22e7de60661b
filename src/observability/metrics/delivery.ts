/**
 * The metrics of the four DORA figures: how often commits are delivered, how long that takes, how many fail, and how long a failure
 * lasts. A Release that changes no cluster is in none of them.
 */
import { defineCounter, defineHistogram } from '../../kube/process/metrics.ts';
import { PIPELINES, STAGE_NAMES } from './limits.ts';

const SERVED = { processes: ['sync'], writtenIn: 'src/sync/promote/release/delivery-metrics.ts' } as const;

// From a stage of one cluster without a soak to a release that waits over two weekends.
const LEAD_SECONDS = [
  60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 345_600, 604_800, 1_209_600,
];
// A revert skips the soak; a fix goes through all stages.
const RESTORE_SECONDS = [60, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800];

export const STAGE_LEAD = defineHistogram({
  ...SERVED,
  name: 'sync_stage_lead_seconds',
  help: 'Time from a commit until a stage proved it.',
  labels: { pipeline: PIPELINES, stage: STAGE_NAMES },
  maxSeries: 200,
  buckets: LEAD_SECONDS,
});

export const FLEET_LEAD = defineHistogram({
  ...SERVED,
  name: 'sync_fleet_lead_seconds',
  help: 'Time from a commit until every stage of its Pipeline proved it.',
  labels: { pipeline: PIPELINES },
  buckets: LEAD_SECONDS,
});

export const STAGE_EVENTS = ['Started', 'Proven', 'Failed'] as const;

export const STAGE_RELEASES = defineCounter({
  ...SERVED,
  name: 'sync_stage_releases_total',
  help: 'Releases that a stage started, proved, or failed with, each once.',
  labels: { pipeline: PIPELINES, stage: STAGE_NAMES, event: STAGE_EVENTS },
  maxSeries: 600,
});

/** Reverted: of a commit that did not fail before, so that Failed and Reverted together are the changes that failed. */
export const RELEASE_EVENTS = ['Started', 'Proven', 'Failed', 'Reverted'] as const;

export const RELEASES = defineCounter({
  ...SERVED,
  name: 'sync_releases_total',
  help: 'Releases that started, were proven in every stage, failed in a stage, or were reverted without having failed, each once.',
  labels: { pipeline: PIPELINES, event: RELEASE_EVENTS },
});

export const RESTORE = defineHistogram({
  ...SERVED,
  name: 'sync_restore_seconds',
  help: 'Time from when a stage failed until it was proven again, with the same commit or a newer one.',
  labels: { pipeline: PIPELINES },
  buckets: RESTORE_SECONDS,
});

export const DELIVERY_METRICS = [STAGE_LEAD, FLEET_LEAD, STAGE_RELEASES, RELEASES, RESTORE];

/** Describes what happened to a Release. */
export type DeliveryEvent =
  | {
      readonly type: 'Stage';
      readonly stage: string;
      readonly event: (typeof STAGE_EVENTS)[number];
      /** Since the commit, where its stage was proven and the time of the commit is known. */
      readonly leadSeconds?: number;
    }
  | {
      readonly type: 'Release';
      readonly event: (typeof RELEASE_EVENTS)[number];
      readonly leadSeconds?: number;
    }
  | { readonly type: 'Restored'; readonly seconds: number };

export interface DeliveryTimes {
  /** This process reconciles the Pipeline: what it counts begins at 0. */
  pipelineOpened(pipeline: string, stages: readonly string[]): void;
  delivered(pipeline: string, event: DeliveryEvent): void;
}
