import { expect, it } from 'vitest';
import type { Cluster, Pipeline, Release } from '../../src/api/generated/types.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import type { ClusterReport } from '../../src/sync/cluster-report.ts';
import { registerSyncMetrics, type SyncMetricsSource } from '../../src/sync/metrics.ts';

const now = new Date('2030-01-01T00:00:00Z');

function cluster(name: string, state?: string): Cluster {
  return { metadata: { name }, ...(state ? { status: { sync: { state } } } : {}) } as unknown as Cluster;
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
    releases: [{ metadata: { name: 'r' }, status: { phase: 'Soaking' } } as unknown as Release],
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
