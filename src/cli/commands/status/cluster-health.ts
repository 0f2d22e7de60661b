/**
 * How a cluster is, whatever commit it runs: its machines as its own Defender counts them, what endangers them, and the objects that
 * sync applied. Pure.
 */
import type { Cluster, MachineCounts } from '../../../api/generated/types.ts';
import type { IncidentReason } from '../../../api/status/incident-reasons.ts';
import { type Condition, conditionOf } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { incidentHint, withContext } from '../../fleet/incident-hints.ts';

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

/** `told`: what the row of the cluster explains already. */
export function clusterHealth(cluster: Cluster, told: string): ClusterHealth {
  const { status } = cluster;
  const [reachable, machinesReady, healthy] = ['Reachable', 'MachinesReady', 'Healthy'].map((type) =>
    conditionOf(status?.conditions, type),
  );
  const counted = optional('machines', status?.machines);
  // Its state tells that nothing is known of it, and why.
  if (reachable?.status !== 'True') return { health: 'Unknown', ...counted, incidents: [] };
  const isFailing = healthy?.status === 'False';
  const objects = isFailing && !told.includes(healthy.message) ? [objectsIncident(cluster, healthy)] : [];
  const incidents = [...machineIncidents(cluster, machinesReady), ...objects];
  if (incidents.length > 0 || isFailing) {
    const health = machinesReady?.status === 'Unknown' && !isFailing ? 'Unknown' : 'Unhealthy';
    return { health, ...counted, incidents };
  }
  const pending = pendingText(healthy, told);
  const health = healthy?.status === 'True' ? 'Healthy' : pending === undefined ? 'Unknown' : 'Progressing';
  return { health, ...counted, incidents, ...optional('pending', pending) };
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
  const isTold = reported.some(({ reason }) => reason === 'NoControllers');
  // A sync of an earlier version does not report them.
  if (finding === undefined || finding.status === 'True' || isTold) return incidents;
  return [...incidents, machinesIncident(finding, context)];
}

function machinesIncident({ status, message }: Condition, context: string | undefined): HealthIncident {
  const hint = withContext('kubenode machine list', context);
  return status === 'False'
    ? { reason: 'MachinesUnhealthy', message, hint }
    : { reason: 'MachinesUnknown', message: `how its machines are is unknown: ${message}`, hint };
}

function objectsIncident({ metadata: { name } }: Cluster, { message }: Condition): HealthIncident {
  return { reason: 'ObjectsUnhealthy', message, hint: `kubenode status ${name}` };
}

/** What it is, and then what to do. */
export function incidentSentence({ message, hint }: Pick<HealthIncident, 'message' | 'hint'>): string {
  return `${message}. ${hint}`;
}

function pendingText(healthy: Condition | undefined, told: string): string | undefined {
  if (healthy === undefined || healthy.status !== 'Unknown' || healthy.reason === 'NotSeen') return undefined;
  return told.includes(healthy.message) ? '' : healthy.message;
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
