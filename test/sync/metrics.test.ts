import { expect, it } from 'vitest';
import type { Cluster, Pipeline, Release } from '../../src/api/generated/types.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import type { ClusterReport } from '../../src/sync/cluster-report.ts';
import { registerSyncMetrics, registerSyncTimes, type SyncMetricsSource } from '../../src/sync/metrics.ts';

const now = new Date('2030-01-01T00:00:00Z');

function cluster(name: string, state?: string): Cluster {
  return { metadata: { name }, ...(state ? { status: { sync: { state } } } : {}) } as unknown as Cluster;
}

function release(name: string, pipeline: string, { stalled = 'False', at = 0 }): Release {
  const conditions = [{ type: 'Stalled', status: stalled, reason: 'X', message: '' }];
  const creationTimestamp = new Date(now.getTime() + at * 1000).toISOString();
  const status = { phase: 'Soaking', conditions };
  return { metadata: { name, creationTimestamp }, spec: { pipeline }, status } as unknown as Release;
}

function withCondition(name: string, type: string, status: string, reason: string): Cluster & Pipeline {
  const conditions = [{ type, status, reason, message: '' }];
  return { metadata: { name }, status: { conditions } } as unknown as Cluster & Pipeline;
}

function report(applied: number, failed: number): ClusterReport {
  return {
    lastContactAt: new Date(now.getTime() - 30_000),
    work: { objects: { total: 10, applied, failed, pruned: 0 } },
    drift: { total: 14, objects: [] },
  } as unknown as ClusterReport;
}

async function linesOf(source: SyncMetricsSource): Promise<string[]> {
  const metrics = createMetrics();
  registerSyncMetrics(
    metrics,
    () => source,
    () => now.getTime(),
  );
  const lines = (await metrics.text()).split('\n');
  return lines.filter((line) => line.startsWith('kubenode_')).toSorted((a, b) => (a < b ? -1 : 1));
}

it('reports the states of clusters, releases and heads, and the objects of each cluster', async () => {
  const source: SyncMetricsSource = {
    clusters: [cluster('a', 'Proven'), cluster('b', 'Failed'), cluster('c', 'Proven'), cluster('new')],
    pipelines: [
      { metadata: { name: 'fleet' }, status: { head: { verdict: 'Refused' } } } as unknown as Pipeline,
    ],
    releases: [release('r', 'fleet', {})],
    report: (name) => (name === 'b' ? report(7, 2) : undefined),
  };
  expect(await linesOf(source)).toEqual([
    'kubenode_sync_clusters{state="Failed"} 1',
    'kubenode_sync_clusters{state="Pending"} 1',
    'kubenode_sync_clusters{state="Proven"} 2',
    'kubenode_sync_contact_age_seconds{cluster="b"} 30',
    'kubenode_sync_drift_corrections{cluster="b"} 14',
    'kubenode_sync_objects{cluster="b",state="applied"} 7',
    'kubenode_sync_objects{cluster="b",state="failed"} 2',
    'kubenode_sync_objects{cluster="b",state="other"} 1',
    'kubenode_sync_pipeline_heads{verdict="Refused"} 1',
    'kubenode_sync_release_stopped{pipeline="fleet"} 0',
    'kubenode_sync_releases{phase="Soaking"} 1',
  ]);
});

it('reports nothing for a deleted cluster', async () => {
  const clusters = [cluster('a', 'Proven')];
  const source: SyncMetricsSource = { clusters, pipelines: [], releases: [], report: () => report(10, 0) };
  const metrics = createMetrics();
  registerSyncMetrics(
    metrics,
    () => source,
    () => now.getTime(),
  );
  expect(await metrics.text()).toContain('cluster="a"');
  clusters.pop();
  expect(await metrics.text()).not.toContain('cluster="a"');
});

async function samplesOf(metric: string, source: Partial<SyncMetricsSource>): Promise<readonly string[]> {
  const none = { clusters: [], pipelines: [], releases: [], report: () => undefined };
  return (await linesOf({ ...none, ...source })).filter((line) => line.startsWith(`kubenode_${metric}{`));
}

it('DAT-06 tells which repositories cannot be read: nothing of a Pipeline that has no status', async () => {
  const pipelines = [
    withCondition('a', 'SourceReady', 'Unknown', 'Stale'),
    withCondition('b', 'SourceReady', 'False', 'BadSignature'),
    withCondition('new', 'Promoted', 'True', 'X'),
  ];
  expect(await samplesOf('sync_pipeline_stale', { pipelines })).toEqual([
    'kubenode_sync_pipeline_stale{pipeline="a"} 1',
    'kubenode_sync_pipeline_stale{pipeline="b"} 0',
  ]);
});

it('DAT-06 tells which clusters are not reachable: unknown is not reachable, and one without a status is new', async () => {
  const clusters = ['True', 'False', 'Unknown'].map((status) =>
    withCondition(`is-${status}`, 'Reachable', status, 'X'),
  );
  expect(await samplesOf('sync_cluster_reachable', { clusters: [...clusters, cluster('new')] })).toEqual([
    'kubenode_sync_cluster_reachable{cluster="is-False"} 0',
    'kubenode_sync_cluster_reachable{cluster="is-True"} 1',
    'kubenode_sync_cluster_reachable{cluster="is-Unknown"} 0',
  ]);
});

it('DAT-06 tells whether the newest release is stopped: one that was replaced stops nothing', async () => {
  const pipelines = ['a', 'b', 'c'].map((name) => withCondition(name, 'Promoted', 'True', 'X'));
  const releases = [
    release('a-2', 'a', { stalled: 'True', at: 2 }),
    release('a-1', 'a', { at: 1 }),
    release('b-1', 'b', { stalled: 'True', at: 1 }),
    release('b-2', 'b', { at: 2 }),
  ];
  expect(await samplesOf('sync_release_stopped', { pipelines, releases })).toEqual([
    'kubenode_sync_release_stopped{pipeline="a"} 1',
    'kubenode_sync_release_stopped{pipeline="b"} 0',
  ]);
});

it('DAT-05 counts the times of drift and of first stages, from zero on', async () => {
  const metrics = createMetrics();
  const times = registerSyncTimes(metrics);
  expect(await metrics.text()).toContain('kubenode_sync_push_to_first_stage_seconds_count 0');
  times.driftCorrected(1.5);
  times.firstStageBegan(61);
  const text = await metrics.text();
  expect(text).toContain('kubenode_sync_drift_correction_seconds_bucket{le="2"} 1');
  expect(text).toContain('kubenode_sync_push_to_first_stage_seconds_bucket{le="60"} 0');
  expect(text).toContain('kubenode_sync_push_to_first_stage_seconds_bucket{le="120"} 1');
});
