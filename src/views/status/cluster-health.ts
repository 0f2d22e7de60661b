/**
 * Computes the health of a cluster, whatever commit it runs: of its machines as its own Defender counts them, what endangers them, and of
 * the objects that sync applied. Pure.
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
  /** The machines of the cluster. Absent: they were never counted, or kubenode keeps none. */
  readonly machines?: MachineCounts;
  /** The incidents that endanger the cluster, the most urgent first. */
  readonly incidents: readonly HealthIncident[];
  /** The objects that are not healthy yet and may become so without a person. Empty: the row of the cluster explains them already. */
  readonly pending?: string;
}

export interface HealthIncident {
  /** The reason for programs: one of the Defender and the controllers, or that machines or objects are unhealthy. */
  readonly reason: IncidentReason | 'MachinesUnhealthy' | 'MachinesUnknown' | 'ObjectsUnhealthy';
  readonly message: string;
  /** The hint about what to do: a command, or a commit. */
  readonly hint: string;
}

export type HealthState = 'Healthy' | 'Unhealthy' | 'Progressing' | 'Unknown';

/** Computes the health of a cluster. `shown` is the text that the row of the cluster shows already: it is not repeated. */
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
  /** Whether all machines are Ready. */
  readonly isWhole: boolean;
}

function healthOf({ machines, objects, pending, isEndangered, isWhole }: HealthInput): HealthState {
  if (objects === 'False') return 'Unhealthy';
  if (isEndangered) return machines === 'Unknown' ? 'Unknown' : 'Unhealthy';
  if (objects === 'True') return isWhole ? 'Healthy' : 'Progressing';
  return pending === undefined ? 'Unknown' : 'Progressing';
}

/** Tells whether all machines are Ready, as they were counted last. */
function areAllReady({ status }: Cluster): boolean {
  const { total = 0, ready = 0 } = status?.machines ?? {};
  return ready >= total;
}

/** Returns the context of a cluster, which has its name. The hub itself needs none: it is the context that is asked. */
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

/** Formats an incident: the message, then what to do. */
export function incidentSentence({ message, hint }: Pick<HealthIncident, 'message' | 'hint'>): string {
  return `${message}. ${hint}`;
}

function pendingText(healthy: Condition | undefined, shown: string): string | undefined {
  if (healthy === undefined || healthy.status !== 'Unknown' || healthy.reason === 'NotSeen') return undefined;
  return shown.includes(healthy.message) ? '' : healthy.message;
}

/** Formats the health and how many machines are Ready for a table: `Unhealthy, 3/6`. */
export function healthCell({ health, machines }: Pick<ClusterHealth, 'health' | 'machines'>): string {
  const { total = 0, ready = 0 } = machines ?? {};
  return total === 0 ? health : `${health}, ${ready}/${total}`;
}

/** Formats the health and how many machines are Ready for a sentence: `Healthy, 6 of 6 machines Ready`. */
export function healthText({ health, machines }: Pick<ClusterHealth, 'health' | 'machines'>): string {
  const { total = 0, ready = 0 } = machines ?? {};
  return total === 0 ? health : `${health}, ${ready} of ${total} machines Ready`;
}
