/** The metrics of sync. They are computed from cached state when Prometheus scrapes, so they cost nothing otherwise. */
import type { Cluster, Pipeline, Release } from '../api/generated/types.ts';
import { conditionOf, conditionStatus } from '../kube/objects/conditions.ts';
import type { GaugeSample, Metrics } from '../kube/process/metrics.ts';
import {
  SYNC_CLUSTER_REACHABLE,
  SYNC_CLUSTERS,
  SYNC_CONTACT_AGE,
  SYNC_DRIFT_CORRECTIONS,
  SYNC_DRIFT_SECONDS,
  SYNC_OBJECTS,
  SYNC_PIPELINE_HEADS,
  SYNC_PIPELINE_STALE,
  SYNC_PUSH_SECONDS,
  SYNC_RELEASE_STOPPED,
  SYNC_RELEASES,
  type SyncTimes,
} from '../observability/metrics/sync.ts';
import type { ClusterReport } from './cluster-report.ts';

/** The objects of the hub and the reports of the clusters. */
export interface SyncMetricsSource {
  readonly clusters: readonly Cluster[];
  readonly pipelines: readonly Pipeline[];
  readonly releases: readonly Release[];
  report(cluster: string): ClusterReport | undefined;
}

export function registerSyncMetrics(
  metrics: Metrics,
  source: () => SyncMetricsSource,
  nowMs: () => number,
): void {
  metrics.gauge({
    ...SYNC_CLUSTERS,
    read: () => countBy('state', source().clusters, ({ status }) => status?.sync?.state ?? 'Pending'),
  });
  metrics.gauge({
    ...SYNC_RELEASES,
    read: () => countBy('phase', source().releases, ({ status }) => status?.phase ?? 'Waiting'),
  });
  metrics.gauge({
    ...SYNC_PIPELINE_HEADS,
    read: () => countBy('verdict', source().pipelines, ({ status }) => status?.head?.verdict ?? 'Unread'),
  });
  metrics.gauge({ ...SYNC_PIPELINE_STALE, read: () => staleness(source()) });
  metrics.gauge({ ...SYNC_RELEASE_STOPPED, read: () => stoppedReleases(source()) });
  metrics.gauge({ ...SYNC_CLUSTER_REACHABLE, read: () => reachability(source()) });
  metrics.gauge({ ...SYNC_CONTACT_AGE, read: () => contactAges(source(), nowMs()) });
  metrics.gauge({ ...SYNC_OBJECTS, read: () => objectCounts(source()) });
  metrics.gauge({ ...SYNC_DRIFT_CORRECTIONS, read: () => correctionCounts(source()) });
}

/** Registers the times, which the process that does the work observes. */
export function registerSyncTimes(metrics: Metrics): Pick<SyncTimes, 'driftCorrected' | 'firstStageBegan'> {
  const drift = metrics.histogram(SYNC_DRIFT_SECONDS);
  const push = metrics.histogram(SYNC_PUSH_SECONDS);
  return {
    driftCorrected: (seconds) => drift.observe({}, seconds),
    firstStageBegan: (seconds) => push.observe({}, seconds),
  };
}

/** Before the first status nothing is known, so there is no sample. */
function staleness({ pipelines }: SyncMetricsSource): GaugeSample<'pipeline'>[] {
  return pipelines.flatMap(({ metadata: { name }, status }) => {
    const ready = conditionOf(status?.conditions, 'SourceReady');
    return ready ? [[{ pipeline: name }, Number(ready.reason === 'Stale')] as const] : [];
  });
}

function stoppedReleases({ pipelines, releases }: SyncMetricsSource): GaugeSample<'pipeline'>[] {
  const byPipeline = Map.groupBy(releases, ({ spec }) => spec.pipeline);
  return pipelines.flatMap(({ metadata: { name } }) => {
    const newest = byPipeline.get(name)?.reduce((a, b) => (createdMs(b) >= createdMs(a) ? b : a));
    const isStopped = conditionStatus(newest?.status?.conditions, 'Stalled') === 'True';
    return newest ? [[{ pipeline: name }, Number(isStopped)] as const] : [];
  });
}

function createdMs({ metadata }: Release): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}

/** Unknown is not reachable. A Cluster that nothing was recorded about yet is new. */
function reachability({ clusters }: SyncMetricsSource): GaugeSample<'cluster'>[] {
  return clusters.flatMap(({ metadata: { name }, status }) => {
    const reachable = conditionOf(status?.conditions, 'Reachable');
    return reachable ? [[{ cluster: name }, Number(reachable.status === 'True')] as const] : [];
  });
}

function countBy<L extends string, T>(
  label: L,
  items: readonly T[],
  valueOf: (item: T) => string,
): GaugeSample<L>[] {
  const groups = Object.entries(Object.groupBy(items, valueOf));
  return groups.map(([value, group]) => [
    { [label]: value } as Readonly<Record<L, string>>,
    group?.length ?? 0,
  ]);
}

function contactAges(source: SyncMetricsSource, nowMs: number): GaugeSample<'cluster'>[] {
  return source.clusters.flatMap(({ metadata: { name } }) => {
    const lastContactAt = source.report(name)?.lastContactAt;
    return lastContactAt ? [[{ cluster: name }, (nowMs - lastContactAt.getTime()) / 1000] as const] : [];
  });
}

/** Counts corrections in the process that corrects; it continues from what the hub has recorded. */
function correctionCounts(source: SyncMetricsSource): GaugeSample<'cluster'>[] {
  return source.clusters.flatMap(({ metadata: { name } }) => {
    const total = source.report(name)?.drift?.total;
    return total === undefined ? [] : [[{ cluster: name }, total] as const];
  });
}

function objectCounts(source: SyncMetricsSource): GaugeSample<'cluster' | 'state'>[] {
  return source.clusters.flatMap(({ metadata: { name } }) => {
    const counts = source.report(name)?.work?.objects;
    if (!counts) return [];
    const { applied, failed, total } = counts;
    const states = { applied, failed, other: total - applied - failed };
    return Object.entries(states).map(([state, count]) => [{ cluster: name, state }, count] as const);
  });
}
