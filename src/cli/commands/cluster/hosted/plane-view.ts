/** Describes a hosted Cluster as its control plane is now: for lists, and for a person who waits. Pure. */
import type { Cluster, ClusterHostedStatus, Condition } from '../../../../api/generated/types.ts';
import { conditionOf, conditionStatus } from '../../../../kube/objects/conditions.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { secondsAfter, wholeSeconds } from '../../../../os/dates.ts';

export type PlaneState = 'Pending' | 'Creating' | 'Ready' | 'NotReady' | 'Unknown' | 'Stalled' | 'Deleting';

export interface PlaneView {
  readonly name: string;
  readonly version: string;
  readonly environment: string;
  readonly state: PlaneState;
  /** Describes what it waits for, or that it is ready. */
  readonly message: string;
  readonly createdAt?: string;
  readonly readyAt?: string;
  /** When its time is over and it is deleted. Absent: never, or it has not been ready yet. */
  readonly endsAt?: string;
  /** The machine and the folder. */
  readonly location?: string;
}

/** Undefined: it is not hosted. */
export function planeView(cluster: Cluster): PlaneView | undefined {
  const { metadata, spec, status } = cluster;
  if (!spec.hosted) return undefined;
  const state = planeState(cluster);
  return {
    name: metadata.name,
    version: spec.hosted.version,
    environment: spec.environment,
    state,
    message: planeMessage(cluster, state),
    ...optional('createdAt', metadata.creationTimestamp),
    ...optional('readyAt', status?.hosted?.readyAt),
    ...optional('endsAt', endOf(cluster, spec.hosted)),
    ...optional('location', status?.hosted?.location),
  };
}

function planeState({ metadata, status }: Cluster): PlaneState {
  if (metadata.deletionTimestamp !== undefined) return 'Deleting';
  const conditions = status?.conditions ?? [];
  if (!conditionOf(conditions, 'ControlPlaneReady')) return 'Pending';
  return reportedState(conditions, status?.hosted?.readyAt);
}

/** A control plane that is ready may be stalled as well: a person is needed for a change of it. */
function reportedState(conditions: readonly Condition[], readyAt: string | undefined): PlaneState {
  const ready = conditionStatus(conditions, 'ControlPlaneReady');
  if (ready === 'True') return 'Ready';
  if (conditionStatus(conditions, 'ControlPlaneStalled') === 'True') return 'Stalled';
  if (ready === 'Unknown') return 'Unknown';
  return readyAt === undefined ? 'Creating' : 'NotReady';
}

function planeMessage({ status }: Cluster, state: PlaneState): string {
  if (state === 'Pending') return 'no hosting has acted on it yet: start one with kubenode hosting';
  const { waiting } = status?.hosted ?? {};
  if (waiting) return withSince(waitText(waiting), waiting.since);
  const ready = conditionOf(status?.conditions, 'ControlPlaneReady');
  if (!ready) return '';
  return state === 'Ready' ? ready.message : withSince(ready.message, ready.lastTransitionTime);
}

function waitText({ reason, message }: NonNullable<ClusterHostedStatus['waiting']>): string {
  return message ? `${reason}: ${message}` : reason;
}

function withSince(text: string, since: string): string {
  return `${text} (since ${since})`;
}

function endOf(
  { spec, status }: Cluster,
  { ttlSecondsAfterReady: seconds }: { readonly ttlSecondsAfterReady?: number },
): string | undefined {
  const readyAt = Date.parse(status?.hosted?.readyAt ?? '');
  if (seconds === undefined || spec.deletion.protection || Number.isNaN(readyAt)) return undefined;
  return wholeSeconds(secondsAfter(new Date(readyAt), seconds));
}
