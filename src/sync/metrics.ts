/** What sync tells Prometheus. All of it is read from what sync knows anyway when somebody asks: idle, it costs nothing. */
import type { Cluster, Pipeline, Release } from '../api/generated/types.ts';
import type { Metrics } from '../kube/process/metrics.ts';
import type { ClusterReport } from './cluster-report.ts';

/** The objects of the hub, and how the work in the clusters goes. */
export interface Known {
  readonly clusters: readonly Cluster[];
  readonly pipelines: readonly Pipeline[];
  readonly releases: readonly Release[];
  report(cluster: string): ClusterReport | undefined;
}

type Reading<L extends string> = readonly [labels: Readonly<Record<L, string>>, value: number];

export function syncMetrics(metrics: Metrics, known: () => Known, nowMs: () => number): void {
  metrics.gauge({
    name: 'sync_clusters',
    help: 'Clusters by the state of what git wants there.',
    labels: ['state'],
    read: () => counted('state', known().clusters, ({ status }) => status?.sync?.state ?? 'Pending'),
  });
  metrics.gauge({
    name: 'sync_releases',
    help: 'Releases by phase.',
    labels: ['phase'],
    read: () => counted('phase', known().releases, ({ status }) => status?.phase ?? 'Waiting'),
  });
  metrics.gauge({
    name: 'sync_pipeline_heads',
    help: 'Pipelines by what was found at the head of their branch.',
    labels: ['verdict'],
    read: () => counted('verdict', known().pipelines, ({ status }) => status?.head?.verdict ?? 'Unread'),
  });
  metrics.gauge({
    name: 'sync_contact_age_seconds',
    help: 'Time since this process last had an answer of a cluster that it looks after.',
    labels: ['cluster'],
    read: () => contactAges(known(), nowMs()),
  });
  metrics.gauge({
    name: 'sync_objects',
    help: 'Objects that git wants in a cluster, by how the last pass of this process left them.',
    labels: ['cluster', 'state'],
    read: () => objects(known()),
  });
}

function counted<L extends string, T>(
  label: L,
  things: readonly T[],
  valueOf: (thing: T) => string,
): Reading<L>[] {
  const groups = Object.entries(Object.groupBy(things, valueOf));
  return groups.map(([value, group]) => [
    { [label]: value } as Readonly<Record<L, string>>,
    group?.length ?? 0,
  ]);
}

function contactAges(known: Known, nowMs: number): Reading<'cluster'>[] {
  return known.clusters.flatMap(({ metadata: { name } }) => {
    const at = known.report(name)?.lastContactAt;
    return at ? [[{ cluster: name }, (nowMs - at.getTime()) / 1000] as const] : [];
  });
}

function objects(known: Known): Reading<'cluster' | 'state'>[] {
  return known.clusters.flatMap(({ metadata: { name } }) => {
    const counts = known.report(name)?.work?.objects;
    if (!counts) return [];
    const { applied, failed, total } = counts;
    const states = { applied, failed, other: total - applied - failed };
    return Object.entries(states).map(([state, count]) => [{ cluster: name, state }, count] as const);
  });
}
