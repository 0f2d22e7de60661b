/** Builds the part of a Cluster's status that sync owns. Pure. */
import type { ClusterAssigned, ClusterStatus } from '../../../api/generated/types.ts';
import { clusterPhases } from '../../../api/status/phase-tables.ts';
import { type Condition, type ConditionUpdate, withConditions } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { ClusterReport, ClusterTarget } from '../../cluster-report.ts';
import { NOT_READ } from '../../health/machine-health.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { waitFor } from '../wait.ts';
import type { ClusterPlan } from './plan.ts';
import { deleteHold } from './stage-member.ts';

/** Hosting owns the other conditions of a Cluster: an apply of sync must not take them over. */
const OWN_CONDITIONS: ReadonlySet<string> = new Set([
  'Reachable',
  'IdentityVerified',
  'Synced',
  'Healthy',
  'MachinesReady',
  'Progressing',
  'Stalled',
]);

/** Builds the status to write. `unread` is why the repository could not be read recently: then no cluster counts as in sync (S21). */
export function clusterStatus(plan: ClusterPlan, unread: string | undefined, now: Date): ClusterStatus {
  const { member, sync } = plan;
  const { cluster } = member.snapshot;
  const before = cluster.status;
  const observedGeneration = optional('observedGeneration', cluster.metadata.generation);
  const findings = findingsOf(plan, unread, now);
  const others = (before?.conditions ?? []).filter(({ type }) => !OWN_CONDITIONS.has(type));
  const own = withConditions(ownConditions(before?.conditions), findings, now, cluster.metadata.generation);
  const waiting = sync.state === 'Proven' ? deleteHold(member, sync) : plan.why;
  return {
    ...observedGeneration,
    phase: clusterPhases.phaseOf({
      conditions: [...own, ...others],
      deletionTimestamp: cluster.metadata.deletionTimestamp,
    }),
    conditions: own,
    ...optional('waiting', waiting && waitFor(before?.waiting, waiting, now)),
    ...observedFields(before, member.snapshot),
    sync,
    ...optional('assigned', member.snapshot.isNotHeld ? leftAssignment(before) : assignedOf(plan.target)),
  };
}

/**
 * Returns the assignment without the right to write: a Pipeline that only writes the status must not look like the one that holds
 * the cluster.
 */
function leftAssignment(before: ClusterStatus | undefined): ClusterAssigned | undefined {
  return before?.assigned && { ...before.assigned, mode: 'Observe' };
}

/** Returns the assignment for the process that holds the Lease of the Cluster, which may be another one. */
function assignedOf({
  pipeline,
  commit,
  digest,
  mode,
  provenBefore,
  isRollback,
}: ClusterTarget): ClusterAssigned {
  const content = { ...optional('commit', commit), ...optional('digest', digest) };
  const marks = { ...optional('provenBefore', provenBefore), ...optional('rollback', isRollback) };
  return { pipeline, mode, ...content, ...marks };
}

/** Returns the part of a status that sync owns, to compare it with what it would write. */
export function ownStatus(status: ClusterStatus | undefined): ClusterStatus | undefined {
  if (!status) return undefined;
  const { hosted: _hosted, report: _report, ...own } = status;
  return { ...own, conditions: ownConditions(status.conditions) };
}

function ownConditions(conditions: readonly Condition[] | undefined): readonly Condition[] {
  return (conditions ?? []).filter(({ type }) => OWN_CONDITIONS.has(type));
}

/**
 * Returns the observed fields. The last observation stays while there is no newer one. The first contact pins the identity,
 * except of a mismatch and of a cluster that another Cluster is registered for: only one may be.
 */
function observedFields(
  before: ClusterStatus | undefined,
  { report, shared }: ClusterSnapshot,
): Partial<ClusterStatus> {
  const { clusterUID, endpoint, version } = { ...before, ...report };
  const registered = report?.identity === 'Verified' ? clusterUID : before?.clusterUID;
  return {
    ...optional('clusterUID', shared?.kind === 'Duplicate' ? undefined : registered),
    ...optional('endpoint', endpoint),
    ...optional('version', version),
    ...observedMachines(before, report?.machineHealth),
  };
}

/** Returns the counts and incidents of the machines. While they cannot be read, the last ones stay. */
function observedMachines(
  before: ClusterStatus | undefined,
  health: ClusterReport['machineHealth'],
): Partial<ClusterStatus> {
  const isRead = health !== undefined && health.reason !== NOT_READ;
  const { machines, incidents = [] }: Partial<ClusterStatus> = (isRead ? health : before) ?? {};
  return {
    ...optional('machines', machines),
    ...optional('incidents', incidents.length > 0 ? incidents : undefined),
  };
}

function findingsOf(plan: ClusterPlan, unread: string | undefined, now: Date): readonly ConditionUpdate[] {
  const { report } = plan.member.snapshot;
  return [
    reachable(report, now),
    identityVerified(report),
    synced(plan, unread),
    healthy(plan),
    machinesReady(report),
    progressing(plan),
    stalled(plan),
  ];
}

/** A server may refuse calls for a moment under load: that is normal, and not an outage. */
const OVERLOAD_SHOWN_MS = 30_000;

function reachable(report: ClusterReport | undefined, now: Date): ConditionUpdate {
  const type = 'Reachable';
  if (report?.reachable === undefined) {
    return { type, status: 'Unknown', reason: 'NotTried', message: 'no attempt to connect has ended yet' };
  }
  const { overloadedSince, failure } = report;
  if (report.reachable && overloadedSince && +now - +overloadedSince >= OVERLOAD_SHOWN_MS) {
    const because = failure ? `: ${failure.message}` : '';
    const message = `the API server has refused work because of its load since ${overloadedSince.toISOString()}${because}`;
    return { type, status: 'False', reason: 'Overloaded', message };
  }
  return report.reachable
    ? { type, status: 'True', reason: 'Answered', message: 'the API server answers' }
    : { type, status: 'False', ...unreachableReason(report.failure) };
}

/** An invalid kubeconfig, or a Secret that does not exist, is not an outage of the cluster. */
const ERRORS_OF_OURS: ReadonlySet<string> = new Set(['Config', 'Credentials', 'Unauthorized']);

function unreachableReason(failure: ClusterReport['failure']): { reason: string; message: string } {
  if (!failure) return { reason: 'NoAnswer', message: 'the API server does not answer' };
  const isOurs = ERRORS_OF_OURS.has(failure.reason);
  return { reason: isOurs ? 'CredentialsInvalid' : 'NoAnswer', message: failure.message };
}

function identityVerified(report: ClusterReport | undefined): ConditionUpdate {
  const type = 'IdentityVerified';
  switch (report?.identity ?? 'Unknown') {
    case 'Verified':
      return { type, status: 'True', reason: 'Verified', message: 'it is the registered cluster' };
    case 'Mismatch':
      return {
        type,
        status: 'False',
        reason: 'IdentityMismatch',
        message: 'another cluster answers: nothing is written',
      };
    case 'Unknown':
      return { type, status: 'Unknown', reason: 'NotSeen', message: 'not observed yet' };
    default:
      throw new TypeError('expected identity Verified, Mismatch or Unknown');
  }
}

function synced({ member, sync, why }: ClusterPlan, unread: string | undefined): ConditionUpdate {
  const type = 'Synced';
  const { report } = member.snapshot;
  // Observed only, as it was: a commit changes it only once a stage selects it.
  const { reason, because } = why;
  if (reason === 'Unassigned') return { type, status: 'Unknown', reason, message: because };
  if (!report?.reachable) {
    return { type, status: 'Unknown', reason: 'Stale', message: 'the cluster is not reachable' };
  }
  if (report.work?.digest !== sync.renderedDigest) {
    return {
      type,
      status: 'Unknown',
      reason: 'NotLooked',
      message: 'not compared with its commit yet',
    };
  }
  if (report.synced.status === 'True' && unread !== undefined) {
    return {
      type,
      status: 'Unknown',
      reason: 'Stale',
      message: `the repository was not read recently: ${unread}`,
    };
  }
  return { type, ...report.synced };
}

function healthy({ member }: ClusterPlan): ConditionUpdate {
  const type = 'Healthy';
  const { state, reason, because } = member.progress;
  if (state === 'Failed') return { type, status: 'False', reason, message: because };
  const { report } = member.snapshot;
  if (!report?.reachable || !report.health) {
    return { type, status: 'Unknown', reason: 'NotSeen', message: 'health is not observed' };
  }
  const { health } = report;
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

/** Reports on the machines themselves, whatever commit they run. */
function machinesReady(report: ClusterReport | undefined): ConditionUpdate {
  const type = 'MachinesReady';
  if (!report?.reachable || !report.machineHealth) {
    return { type, status: 'Unknown', reason: 'NotSeen', message: 'the machines are not observed' };
  }
  const { status, reason, message } = report.machineHealth;
  return { type, status, reason, message };
}

function progressing({ sync, why }: ClusterPlan): ConditionUpdate {
  const type = 'Progressing';
  const reason = sync.state ?? 'Pending';
  const isProgressing = reason === 'Applying' || reason === 'Soaking' || reason === 'Proven';
  return { type, status: isProgressing ? 'True' : 'False', reason, message: why.because };
}

/** Reports whether only a person or a newer commit ends the state of the cluster. */
function stalled({ member, sync, why }: ClusterPlan): ConditionUpdate {
  const type = 'Stalled';
  const isStalled = sync.state === 'Failed' || sync.state === 'Held';
  const because = isStalled ? why : deleteHold(member, sync);
  return because
    ? { type, status: 'True', reason: because.reason, message: because.because }
    : { type, status: 'False', reason: 'NotStalled', message: 'no action required' };
}
