/** What stands in a Lease, and what follows from it. Pure: time is an argument. */
import { isRecord, type JsonRecord, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';

export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

export interface LeaseRecord {
  /** Undefined when nobody holds it: released, or never held. */
  readonly holder: string | undefined;
  /** Undefined when the holder did not say. */
  readonly durationMs: number | undefined;
  /** Grows with each term: `leaseTransitions`. */
  readonly epoch: number;
}

/** A record as one contender sees it. */
export interface ObservedLease {
  readonly object: KubeObject;
  readonly record: LeaseRecord;
  /** When WE first saw this record, by OUR monotonic clock: the holder's clock is never compared. */
  readonly sinceMs: number;
}

export function readLeaseRecord(object: KubeObject): LeaseRecord {
  const seconds = valueAt(object, 'spec', 'leaseDurationSeconds');
  const epoch = valueAt(object, 'spec', 'leaseTransitions');
  return {
    holder: textAt(object, 'spec', 'holderIdentity') || undefined,
    durationMs: typeof seconds === 'number' ? seconds * 1000 : undefined,
    epoch: typeof epoch === 'number' ? epoch : 0,
  };
}

/**
 * Any write is taken for a sign of life. A label that somebody else sets delays a takeover; a renewal that was
 * overlooked, because the holder's clock stands still, would make two holders.
 */
export function observeLease(
  before: ObservedLease | undefined,
  object: KubeObject,
  nowMs: number,
): ObservedLease {
  const unchanged =
    before?.object.metadata.uid === object.metadata.uid &&
    before?.object.metadata.resourceVersion === object.metadata.resourceVersion;
  return { object, record: readLeaseRecord(object), sinceMs: before && unchanged ? before.sinceMs : nowMs };
}

export type LeaseAvailability =
  | { readonly free: true; readonly because: 'never held' | 'released' | 'expired' | 'ours' }
  | { readonly free: false; readonly holder: string; readonly leftMs: number };

/**
 * May we take it? `ours` is the epoch of our own last attempt: its answer may have been lost, so that we hold it
 * without knowing. A record with our name and another epoch is another process that calls itself like us.
 */
export function assessLease(
  { record, sinceMs }: Pick<ObservedLease, 'record' | 'sinceMs'>,
  us: { readonly identity: string; readonly ours: number | undefined; readonly leaseMs: number },
  nowMs: number,
): LeaseAvailability {
  const { holder, epoch, durationMs } = record;
  if (holder === undefined) return { free: true, because: epoch === 0 ? 'never held' : 'released' };
  if (holder === us.identity && epoch === us.ours) return { free: true, because: 'ours' };
  const leftMs = sinceMs + (durationMs ?? us.leaseMs) - nowMs;
  return leftMs > 0 ? { free: false, holder, leftMs } : { free: true, because: 'expired' };
}

export interface LeaseClaim {
  readonly identity: string;
  readonly epoch: number;
  readonly leaseSeconds: number;
  readonly acquiredAt: Date;
  readonly now: Date;
}

/** The whole object again, so that labels and annotations of others stay. */
export function withClaim(
  object: KubeObject,
  { identity, epoch, leaseSeconds, acquiredAt, now }: LeaseClaim,
): KubeObject {
  const spec = {
    ...specOf(object),
    holderIdentity: identity,
    leaseDurationSeconds: leaseSeconds,
    acquireTime: formatMicroTime(acquiredAt),
    renewTime: formatMicroTime(now),
    leaseTransitions: epoch,
  };
  return { ...object, spec };
}

/** Nobody holds it now; the epoch stays, so that the next term is a later one. */
export function withoutHolder(object: KubeObject, now: Date): KubeObject {
  const { holderIdentity: _, ...spec } = specOf(object);
  return { ...object, spec: { ...spec, leaseDurationSeconds: 1, renewTime: formatMicroTime(now) } };
}

export function createEmptyLease({ name, namespace }: ObjectName): KubeObject {
  return {
    apiVersion: `${LEASES.group}/${LEASES.version}`,
    kind: LEASES.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
}

/** metav1.MicroTime: the API server refuses any other number of digits than six. */
export function formatMicroTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z');
}

function specOf(object: KubeObject): JsonRecord {
  const spec = valueAt(object, 'spec');
  return isRecord(spec) ? spec : {};
}
