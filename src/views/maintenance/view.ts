/** Builds the view of one MaintenanceEvent for people. Pure: it reads only the object. */
import type { MaintenanceEvent, Wait } from '../../api/generated/types.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import { maintenanceUnblock } from './unblock.ts';

export interface MaintenanceView {
  readonly event: string;
  readonly machine: string;
  readonly provider: string;
  readonly eventID: string;
  readonly type: string;
  readonly state: string;
  readonly phase: string;
  readonly isOver: boolean;
  readonly hint?: { readonly ttlSeconds?: number };
  readonly created?: string;
  readonly notBefore?: string;
  readonly deadline?: string;
  /** The time when preparation begins. */
  readonly actAt?: string;
  readonly job?: string;
  readonly waiting?: Wait;
  /** The hint that ends the wait; empty while the event does not wait. */
  readonly unblock: string;
  /** Each condition with what it means now. */
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
  readonly reports: number;
  /** The cause, the confidence and the details that the reporter gave. */
  readonly details: string;
}

export function viewMaintenance({ metadata, spec, status }: MaintenanceEvent): MaintenanceView {
  const { phase = 'Pending', conditions = [], waiting, actAt, job, reports = 0 } = status ?? {};
  return {
    event: metadata.name,
    machine: spec.machine,
    provider: spec.provider,
    eventID: spec.eventID,
    type: spec.type,
    state: spec.state,
    phase,
    isOver: conditionStatus(conditions, 'Settled') === 'True',
    ...(spec.hint ? { hint: optional('ttlSeconds', spec.ttlSeconds) } : {}),
    ...optional('created', metadata.creationTimestamp),
    ...optional('notBefore', spec.notBefore),
    ...optional('deadline', spec.deadline),
    ...optional('actAt', actAt),
    ...optional('job', job),
    ...optional('waiting', waiting),
    unblock: waiting ? maintenanceUnblock(waiting, metadata.name, spec.machine) : '',
    conditions: conditions.map(({ type, status: value, reason, message }) => ({
      type,
      status: value,
      reason,
      message,
    })),
    reports,
    details: detailsOf(spec),
  };
}

function detailsOf({ cause, confidencePercent, details }: MaintenanceEvent['spec']): string {
  const confidence = confidencePercent === undefined ? undefined : `${confidencePercent} % confidence`;
  return [cause, confidence, details].filter(Boolean).join('; ');
}

/** Sorts events: those that are not over first, by their start; then those that are, the newest first. */
export function sortMaintenance(views: readonly MaintenanceView[]): readonly MaintenanceView[] {
  return views.toSorted(
    (a, b) =>
      Number(a.isOver) - Number(b.isOver) ||
      (a.isOver ? byCode(b.created ?? '', a.created ?? '') : byCode(startOf(a), startOf(b))) ||
      byCode(a.event, b.event),
  );
}

/** Returns the start of the event, or else the time of its creation: an event without a start may begin at any time. */
function startOf({ notBefore, created = '' }: MaintenanceView): string {
  return new Date(notBefore ?? created).toJSON() ?? '';
}
