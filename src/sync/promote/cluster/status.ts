/** The part of a Cluster's status that is sync's. Pure. */
import type { ClusterStatus } from '../../../api/generated/types.ts';
import { clusterPhases } from '../../../api/phases.ts';
import { type Condition, type ConditionUpdate, withConditions } from '../../../kube/objects/conditions.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import { optional } from '../snapshot.ts';
import { waitFor } from '../wait.ts';
import type { ClusterPlan } from './plan.ts';

/** The others on a Cluster are of hosting: an apply must not take them over. */
const OURS: ReadonlySet<string> = new Set([
  'Reachable',
  'IdentityVerified',
  'Synced',
  'Healthy',
  'Progressing',
  'Stalled',
]);

/** `unread` says why the head is not known lately: then nothing is in sync for certain (S21). */
export function clusterStatus(plan: ClusterPlan, unread: string | undefined, now: Date): ClusterStatus {
  const { member, sync } = plan;
  const { cluster, report } = member.view;
  const before = cluster.status;
  const observedGeneration = optional('observedGeneration', cluster.metadata.generation);
  const findings = findingsOf(plan, unread).map((finding) => ({ ...finding, ...observedGeneration }));
  const foreign = (before?.conditions ?? []).filter(({ type }) => !OURS.has(type));
  const ours = withConditions(ownOf(before?.conditions), findings, now);
  const waiting = sync.state === 'Proven' ? undefined : plan.why;
  return {
    ...observedGeneration,
    phase: clusterPhases.phaseOf({
      conditions: [...ours, ...foreign],
      deletionTimestamp: cluster.metadata.deletionTimestamp,
    }),
    conditions: ours,
    ...optional('waiting', waiting && waitFor(before?.waiting, waiting, now)),
    ...seen(before, report),
    sync,
  };
}

/** What sync owns of a status, to compare with what it would write. */
export function ownStatus(status: ClusterStatus | undefined): ClusterStatus | undefined {
  if (!status) return undefined;
  const { hosted: _hosted, ...own } = status;
  return { ...own, conditions: ownOf(status.conditions) };
}

function ownOf(conditions: readonly Condition[] | undefined): readonly Condition[] {
  return (conditions ?? []).filter(({ type }) => OURS.has(type));
}

/** The last that was seen stays, while nothing can be seen. The first contact pins the identity, but no impostor's. */
function seen(before: ClusterStatus | undefined, report: ClusterReport | undefined): Partial<ClusterStatus> {
  const { clusterUID, endpoint, version, machines } = { ...before, ...defined(report) };
  return {
    ...optional('clusterUID', report?.identity === 'Verified' ? clusterUID : before?.clusterUID),
    ...optional('endpoint', endpoint),
    ...optional('version', version),
    ...optional('machines', machines),
  };
}

function defined(
  report: ClusterReport | undefined,
): Pick<Partial<ClusterReport>, 'clusterUID' | 'endpoint' | 'version' | 'machines'> {
  return {
    ...optional('clusterUID', report?.clusterUID),
    ...optional('endpoint', report?.endpoint),
    ...optional('version', report?.version),
    ...optional('machines', report?.machines),
  };
}

function findingsOf(plan: ClusterPlan, unread: string | undefined): readonly ConditionUpdate[] {
  const { report } = plan.member.view;
  return [
    reachable(report),
    identity(report),
    synced(plan, unread),
    healthy(plan),
    progressing(plan),
    stalled(plan),
  ];
}

function reachable(report: ClusterReport | undefined): ConditionUpdate {
  const type = 'Reachable';
  if (report?.reachable === undefined) {
    return { type, status: 'Unknown', reason: 'NotTried', message: 'no contact was tried yet' };
  }
  return report.reachable
    ? { type, status: 'True', reason: 'Answered', message: 'its API server answers' }
    : { type, status: 'False', reason: 'NoAnswer', message: 'its API server does not answer' };
}

function identity(report: ClusterReport | undefined): ConditionUpdate {
  const type = 'IdentityVerified';
  switch (report?.identity ?? 'Unknown') {
    case 'Verified':
      return { type, status: 'True', reason: 'Verified', message: 'it is the cluster that was registered' };
    case 'Mismatch':
      return {
        type,
        status: 'False',
        reason: 'IdentityMismatch',
        message: 'another cluster answers: nothing is written',
      };
    case 'Unknown':
      return { type, status: 'Unknown', reason: 'NotSeen', message: 'it was not looked at yet' };
    default:
      throw new TypeError('an identity is verified, mismatched or unknown');
  }
}

function synced({ member, sync }: ClusterPlan, unread: string | undefined): ConditionUpdate {
  const type = 'Synced';
  const { report } = member.view;
  if (!report?.reachable) {
    return { type, status: 'Unknown', reason: 'Stale', message: 'the cluster is not seen' };
  }
  if (report.work?.digest !== sync.renderedDigest) {
    return {
      type,
      status: 'Unknown',
      reason: 'NotLooked',
      message: 'it was not compared with its commit yet',
    };
  }
  if (report.synced.status === 'True' && unread !== undefined) {
    return {
      type,
      status: 'Unknown',
      reason: 'Stale',
      message: `the repository was not read lately: ${unread}`,
    };
  }
  return { type, ...report.synced };
}

function healthy({ member }: ClusterPlan): ConditionUpdate {
  const type = 'Healthy';
  const { trial, reason, because } = member.progress;
  if (trial === 'Failed') return { type, status: 'False', reason, message: because };
  const health = member.view.report?.health;
  if (!member.view.report?.reachable || !health) {
    return { type, status: 'Unknown', reason: 'NotSeen', message: 'its health is not seen' };
  }
  if (health.answer === 'Settled') {
    return { type, status: 'True', reason: 'Settled', message: health.because };
  }
  return {
    type,
    status: health.answer === 'Failed' ? 'False' : 'Unknown',
    reason: health.reason,
    message: health.because,
  };
}

function progressing({ sync, why }: ClusterPlan): ConditionUpdate {
  const type = 'Progressing';
  const reason = sync.state ?? 'Pending';
  const moves = reason === 'Applying' || reason === 'Soaking' || reason === 'Proven';
  return { type, status: moves ? 'True' : 'False', reason, message: why.because };
}

/** Only a person, or a newer commit, gets it on. */
function stalled(plan: ClusterPlan): ConditionUpdate {
  const type = 'Stalled';
  const { state } = plan.sync;
  const stuck = state === 'Failed' || state === 'Held';
  if (!stuck) return { type, status: 'False', reason: 'NotStalled', message: 'it goes on by itself' };
  return { type, status: 'True', reason: plan.why.reason, message: plan.why.because };
}
