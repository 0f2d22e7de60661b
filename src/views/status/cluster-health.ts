/**
 * How a cluster is, whatever commit it runs: its machines as its own Defender counts them, what endangers them, and the objects that
 * sync applied. Pure.
 */
import type { Cluster, MachineCounts } from '../../api/generated/types.ts';
import type { IncidentReason } from '../../api/status/incident-reasons.ts';
import {
  type Condition,
  type ConditionStatus,
  conditionOf,
  conditionStatus,
} from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { incidentHint, withContext } from '../fleet/incident-hints.ts';

export interface ClusterHealth {
  readonly health: HealthState;
  /** Absent: they were never counted, or kubenode keeps none. */
  readonly machines?: MachineCounts;
  /** What endangers it, the most urgent first. */
  readonly incidents: readonly HealthIncident[];
  /** What is not healthy yet, and may become so without a person. */
  readonly pending?: string;
}

export interface HealthIncident {
  /** For programs: of the Defender and the controllers, or that machines or objects are unhealthy. */
  readonly reason: IncidentReason | 'MachinesUnhealthy' | 'MachinesUnknown' | 'ObjectsUnhealthy';
  readonly message: string;
  /** What to do: a command, or a commit. */
  readonly hint: string;
}

export type HealthState = 'Healthy' | 'Unhealthy' | 'Progressing' | 'Unknown';

/** `shown`: what the row of the cluster explains already. */
export function clusterHealth(cluster: Cluster, shown: string): ClusterHealth {
  const { status } = cluster;
  const counted = optional('machines', status?.machines);
  // Its state shows that nothing is known of it, and why.
  if (conditionStatus(status?.conditions, 'Reachable') !== 'True') {
    return { health: 'Unknown', ...counted, incidents: [] };
  }
  const machines = conditionOf(status?.conditions, 'MachinesReady');
  const objects = conditionOf(status?.conditions, 'Healthy');
  const incidents = [...machineIncidents(cluster, machines), ...objectIncidents(cluster, objects, shown)];
  const pending = pendingText(objects, shown);
  const isWhole = areAllReady(cluster);
  const found = { machines: machines?.status, objects: objects?.status, pending, isWhole };
  const health = healthOf({ ...found, isEndangered: incidents.length > 0 });
  return { health, ...counted, incidents, ...optional('pending', pending) };
}

interface HealthInput {
  readonly machines: ConditionStatus | undefined;
  readonly objects: ConditionStatus | undefined;
  readonly pending: string | undefined;
  readonly isEndangered: boolean;
  /** All machines are Ready. */
  readonly isWhole: boolean;
}

function healthOf({ machines, objects, pending, isEndangered, isWhole }: HealthInput): HealthState {
  if (objects === 'False') return 'Unhealthy';
  if (isEndangered) return machines === 'Unknown' ? 'Unknown' : 'Unhealthy';
  if (objects === 'True') return isWhole ? 'Healthy' : 'Progressing';
  return pending === undefined ? 'Unknown' : 'Progressing';
}

/** As they were counted last. */
function areAllReady({ status }: Cluster): boolean {
  const { total = 0, ready = 0 } = status?.machines ?? {};
  return ready >= total;
}

/** The context of a cluster has its name. The hub itself is the context that is asked. */
function contextOf({ metadata: { name }, spec }: Cluster): string | undefined {
  return spec.connection?.inCluster ? undefined : name;
}

function machineIncidents(cluster: Cluster, finding: Condition | undefined): readonly HealthIncident[] {
  const context = contextOf(cluster);
  const reported = cluster.status?.incidents ?? [];
  const incidents = reported.map((incident) => ({
    reason: incident.reason,
    message: incident.message,
    hint: incidentHint(incident, context),
  }));
  const isShown = reported.some(({ reason }) => reason === 'NoControllers');
  // A sync of an earlier version does not report them.
  if (finding === undefined || finding.status === 'True' || isShown) return incidents;
  return [...incidents, machinesIncident(finding, context)];
}

function machinesIncident({ status, message }: Condition, context: string | undefined): HealthIncident {
  const hint = withContext('kubenode machine list', context);
  return status === 'False'
    ? { reason: 'MachinesUnhealthy', message, hint }
    : { reason: 'MachinesUnknown', message: `how its machines are is unknown: ${message}`, hint };
}

function objectIncidents(
  { metadata: { name } }: Cluster,
  finding: Condition | undefined,
  shown: string,
): readonly HealthIncident[] {
  if (finding?.status !== 'False' || shown.includes(finding.message)) return [];
  return [{ reason: 'ObjectsUnhealthy', message: finding.message, hint: `kubenode status ${name}` }];
}

/** Begins with what it is, and ends with what to do. */
export function incidentSentence({ message, hint }: Pick<HealthIncident, 'message' | 'hint'>): string {
  return `${message}. ${hint}`;
}

function pendingText(healthy: Condition | undefined, shown: string): string | undefined {
  if (healthy === undefined || healthy.status !== 'Unknown' || healthy.reason === 'NotSeen') return undefined;
  return shown.includes(healthy.message) ? '' : healthy.message;
}

/** `Unhealthy, 3/6`: how many of its machines are Ready. */
export function healthCell({ health, machines }: Pick<ClusterHealth, 'health' | 'machines'>): string {
  const { total = 0, ready = 0 } = machines ?? {};
  return total === 0 ? health : `${health}, ${ready}/${total}`;
}

/** `Healthy, 6 of 6 machines Ready`. */
export function healthText({ health, machines }: Pick<ClusterHealth, 'health' | 'machines'>): string {
  const { total = 0, ready = 0 } = machines ?? {};
  return total === 0 ? health : `${health}, ${ready} of ${total} machines Ready`;
}
