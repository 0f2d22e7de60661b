/**
 * Converts what the holders of a Cluster's Lease and of its Pipeline's Lease exchange through the status of the Cluster, when
 * they are two processes. Pure.
 */
import type { Cluster, ClusterApplyReport, ClusterAssigned, Pipeline } from '../../../api/generated/types.ts';
import { activePause, pausedParts, pausedReason } from '../../../api/status/pauses.ts';
import { activeRollback } from '../../../api/status/rollbacks.ts';
import { truncateToSchema } from '../../../api/validation/truncate-to-schema.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { syncedCondition } from '../../apply/report.ts';
import type { ClusterReport, ClusterTarget, WorkReport } from '../../cluster-report.ts';
import { driftToRecord, joinDrift } from '../../drift-history.ts';

/** Returns the target that promotion recorded. A stop by a person counts at once, even if promotion has not recorded it yet. */
export function recordedTarget(
  cluster: Cluster,
  pipeline: Pipeline | undefined,
  now: Date,
): ClusterTarget | undefined {
  const { assigned } = cluster.status ?? {};
  if (!assigned) return undefined;
  return {
    mode: isStopped(cluster, pipeline, now) ? 'Observe' : assigned.mode,
    ...optional('commit', assigned.commit),
    ...optional('digest', assigned.digest),
    ...optional('provenBefore', assigned.provenBefore),
    pipeline: assigned.pipeline,
    because: 'recorded by promotion',
    ...optional('isRollback', isReturned(cluster) || undefined),
    ...pausedParts(cluster, assigned.pipeline, now),
  };
}

function isStopped(cluster: Cluster, pipeline: Pipeline | undefined, now: Date): boolean {
  return (
    pipeline === undefined ||
    pausedReason(pipeline) !== undefined ||
    cluster.spec.paused ||
    activePause(cluster, now) !== undefined ||
    isEndedReturn(cluster)
  );
}

/**
 * Tells whether promotion recorded a rollback that a person has ended since then. The earlier revision would be applied as a commit
 * is, with its rules and limits.
 */
function isEndedReturn(cluster: Cluster): boolean {
  return cluster.status?.assigned?.rollback === true && activeRollback(cluster) === undefined;
}

/** Tells whether what promotion recorded is the rollback of a person. */
function isReturned(cluster: Cluster): boolean {
  const { assigned } = cluster.status ?? {};
  if (assigned?.rollback) return true;
  const rollback = activeRollback(cluster);
  return rollback !== undefined && rollback.digest === assigned?.digest;
}

/** Returns what the holder of the Cluster's Lease reports. Undefined until it has compared the cluster with the assigned commit. */
export function applyReport(
  cluster: Cluster,
  holder: string,
  { work, drift, revisions }: Pick<ClusterReport, 'work' | 'drift' | 'revisions'>,
  now: Date,
): ClusterApplyReport | undefined {
  if (work?.commit === undefined) return undefined;
  const { commit, digest, state, reason, message, objects, failures, held } = work;
  const known = {
    ...optional('failures', failures.length > 0 ? failures : undefined),
    ...optional('held', held),
    ...optional('drift', driftToRecord(cluster.status?.report?.drift, drift, now)),
    ...optional('revisions', revisions),
  };
  const report = { holder, commit, digest, state, reason, message, objects, ...known };
  // Compared with what is recorded, so it must be as the hub returns it.
  return truncateToSchema({ ...cluster, status: { conditions: [], report } }).status.report;
}

/**
 * Returns our own observation of a cluster that another process applies to, with what only that process knows. Its report counts
 * only while it holds the Lease, and only about what is assigned now.
 */
export function withApplyReport(
  own: ClusterReport,
  { status }: Cluster,
  holder: string | undefined,
): ClusterReport {
  const report = status?.report;
  const { revisions: _own, ...rest } = own;
  const observed = { ...rest, ...optional('drift', joinDrift(own.drift, report?.drift)) };
  if (!report || !own.reachable || report.holder !== holder) return observed;
  const kept = optional('revisions', report.revisions);
  if (!isCurrent(report, status.assigned)) return { ...observed, ...kept };
  const work = workOf(report);
  const isStale = own.synced.reason === 'Stale';
  return { ...observed, ...kept, work, synced: isStale ? own.synced : syncedCondition(work, undefined) };
}

function isCurrent(report: ClusterApplyReport, assigned: ClusterAssigned | undefined): boolean {
  return report.commit === assigned?.commit && report.digest === assigned.digest;
}

function workOf({
  commit,
  digest,
  state,
  reason,
  message,
  objects,
  failures = [],
  held,
}: ClusterApplyReport): WorkReport {
  const { total = 0, applied = 0, pruned = 0, failed = 0 } = objects;
  return {
    commit,
    digest,
    state,
    reason,
    message,
    objects: { total, applied, pruned, failed },
    failures: failures.map((each) => ({ ...NO_FAILURE, ...each })),
    ...optional('held', held),
  };
}

const NO_FAILURE = { object: '', reason: '', message: '' };
