/** The metrics of sync. They are computed from cached state when Prometheus scrapes, so they cost nothing otherwise. */
import type { Cluster, Pipeline, Release } from '../api/generated/types.ts';
import type { GaugeSample, Metrics } from '../kube/process/metrics.ts';
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
    name: 'sync_clusters',
    help: 'Clusters by the sync state of their target commit.',
    labels: ['state'],
    read: () => countBy('state', source().clusters, ({ status }) => status?.sync?.state ?? 'Pending'),
  });
  metrics.gauge({
    name: 'sync_releases',
    help: 'Releases by phase.',
    labels: ['phase'],
    read: () => countBy('phase', source().releases, ({ status }) => status?.phase ?? 'Waiting'),
  });
  metrics.gauge({
    name: 'sync_pipeline_heads',
    help: 'Pipelines by the verdict on the head of their branch.',
    labels: ['verdict'],
    read: () => countBy('verdict', source().pipelines, ({ status }) => status?.head?.verdict ?? 'Unread'),
  });
  metrics.gauge({
    name: 'sync_contact_age_seconds',
    help: 'Time since this process last got an answer from a cluster that it syncs.',
    labels: ['cluster'],
    read: () => contactAges(source(), nowMs()),
  });
  metrics.gauge({
    name: 'sync_objects',
    help: 'Objects that git declares for a cluster, by the result of the last reconcile of this process.',
    labels: ['cluster', 'state'],
    read: () => objectCounts(source()),
  });
  metrics.gauge({
    name: 'sync_drift_corrections',
    help: 'How often objects of a cluster were written back because others had changed or deleted them.',
    labels: ['cluster'],
    read: () => correctionCounts(source()),
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
