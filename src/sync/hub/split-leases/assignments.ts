/**
 * Keeps clusters at the target that promotion recorded, while this process holds the Lease of the Cluster and another one
 * that of its Pipeline, and reports to that one what applying met.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Cluster, ClusterApplyReport, ClusterAssigned } from '../../../api/generated/types.ts';
import { activeRollback } from '../../../api/status/rollbacks.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import type { RenderedTarget } from '../../rendered.ts';
import type { ClusterWorkers } from '../cluster-workers.ts';
import type { HubCache } from '../hub-cache.ts';
import type { PipelineWorkers } from '../pipeline/workers.ts';
import { applyReport, recordedTarget, withApplyReport } from './report.ts';
import { createReportWriter, type DueReport } from './report-writer.ts';

export interface AssignmentsOptions {
  readonly hub: HubCache;
  readonly clusters: ClusterWorkers;
  readonly pipelines: PipelineWorkers;
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

export interface Assignments {
  /** Sets the recorded targets. Level-triggered: an unchanged target has no effect. */
  refresh(): void;
  /** Sets the recorded target of one cluster: a pause may have ended without a change in the hub. */
  refreshCluster(cluster: string): void;
  /** Writes the report of a cluster if it has changed. Returns at once; a failed write is repeated with growing delays. */
  writeReport(cluster: string): void;
  writeReports(): void;
  /** Returns what promotion knows about a cluster, whichever process applies to it. */
  report(cluster: string): ClusterReport | undefined;
  /** Resolves after the last write. */
  close(): Promise<void>;
}

export function createAssignments(options: AssignmentsOptions): Assignments {
  const { hub, clusters, pipelines, identity, clock } = options;
  const stored = hub.stores.clusters;
  const reports = createReportWriter({
    ...options,
    due: dueReport,
    write: (name, report) => hub.applyClusterReport(name, report, () => clusters.fence(name)),
  });
  return {
    refresh() {
      for (const cluster of stored.list()) setRecordedTarget(cluster);
    },
    refreshCluster(name) {
      const cluster = stored.get(name);
      if (cluster) setRecordedTarget(cluster);
    },
    writeReport: (name) => reports.write(name),
    writeReports() {
      for (const { metadata } of stored.list()) reports.write(metadata.name);
    },
    report(name) {
      const own = clusters.report(name);
      const cluster = stored.get(name);
      if (!own || !cluster || clusters.isHeld(name)) return own;
      return withApplyReport(own, cluster, clusters.holder(name));
    },
    close: () => reports.close(),
  };

  function setRecordedTarget(cluster: Cluster): void {
    const { name } = cluster.metadata;
    const assigned = cluster.status?.assigned;
    if (!assigned || !isSplit(name, assigned)) return;
    const target = recordedTarget(cluster, hub.stores.pipelines.get(assigned.pipeline), clock.now());
    if (!target) return;
    clusters.setTarget(name, { ...target, content: (commit) => recordedContent(cluster, assigned, commit) });
  }

  /**
   * Reads the content of the recorded target. The cache of a process that has just taken over may be outdated: the hub is asked
   * before each reconcile.
   */
  async function recordedContent(
    cluster: Cluster,
    assigned: ClusterAssigned,
    commit: string,
  ): Promise<RenderedTarget | undefined> {
    const { pipeline } = assigned;
    const { name } = cluster.metadata;
    // After a Lease has changed hands, the next target is about to be set.
    if (!isSplit(name, assigned)) return undefined;
    const current = await hub.readCluster(name);
    // The cache has the current one now, and with it the next target was set.
    if (!isDeepStrictEqual(current.status?.assigned, assigned)) return undefined;
    const present = isOnward(cluster, assigned, commit) ? (clusters.report(name)?.commits ?? []) : [];
    return pipelines.get(pipeline)?.assignedContent({ cluster: name, commit, present });
  }

  /** Tells whether this process applies to the cluster, and another one promotes it. */
  function isSplit(cluster: string, { pipeline }: ClusterAssigned): boolean {
    return clusters.isHeld(cluster) && !pipelines.isHeld(pipeline);
  }

  function dueReport(name: string): DueReport | undefined {
    const cluster = stored.get(name);
    if (!cluster?.status?.assigned || !clusters.isHeld(name)) return undefined;
    const report = currentReport(cluster, cluster.status.assigned);
    return isDeepStrictEqual(cluster.status.report, report) ? undefined : { report };
  }

  /**
   * Returns the report that has to be recorded now. One process that holds both Leases needs none: a report that stayed would
   * count again after the next split.
   */
  function currentReport(cluster: Cluster, assigned: ClusterAssigned): ClusterApplyReport | undefined {
    const { name } = cluster.metadata;
    if (!isSplit(name, assigned)) return undefined;
    return applyReport(cluster, identity, clusters.report(name) ?? {}, clock.now());
  }
}

/** Only what is applied must not be older than what is there, unless a person rolled the cluster back. */
function isOnward(cluster: Cluster, assigned: ClusterAssigned, commit: string): boolean {
  return commit === assigned.commit && activeRollback(cluster) === undefined;
}
