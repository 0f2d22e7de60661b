/** Reads and writes the content of a Lease, and decides whether it can be acquired. Pure: time is an argument. */
import type { Patch } from '../client/client.ts';
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
  /** The holder; undefined when the Lease was released or never held. */
  readonly holder: string | undefined;
  /** The duration; undefined when the holder set none. */
  readonly durationMs: number | undefined;
  /** The epoch, `leaseTransitions`, which increases with each term. */
  readonly epoch: number;
}

/** A Lease as this candidate observed it. */
export interface ObservedLease {
  readonly object: KubeObject;
  readonly record: LeaseRecord;
  /** The time when this version was first observed, by our monotonic clock: the holder's clock is never used. */
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
 * Records an observation of a Lease. Any write counts as a renewal: a label that another client sets only delays a takeover, but a missed
 * renewal (the holder's clock may be stuck) would allow two holders.
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
 * Decides whether the candidate may acquire the Lease. `attemptedEpoch` is the epoch of its own last attempt: when that answer was lost it
 * may hold the Lease without knowing. A record with its identity and another epoch belongs to another process with the same identity.
 */
export function assessLease(
  { record, sinceMs }: Pick<ObservedLease, 'record' | 'sinceMs'>,
  candidate: {
    readonly identity: string;
    readonly attemptedEpoch: number | undefined;
    readonly leaseMs: number;
  },
  nowMs: number,
): LeaseAvailability {
  const { holder, epoch, durationMs } = record;
  if (holder === undefined) return { free: true, because: epoch === 0 ? 'never held' : 'released' };
  const isOurs = holder === candidate.identity && epoch === candidate.attemptedEpoch;
  if (isOurs) return { free: true, because: 'ours' };
  const leftMs = sinceMs + (durationMs ?? candidate.leaseMs) - nowMs;
  return leftMs > 0 ? { free: false, holder, leftMs } : { free: true, because: 'expired' };
}

export interface LeaseClaim {
  readonly identity: string;
  readonly epoch: number;
  readonly leaseSeconds: number;
  readonly now: Date;
}

/** Returns the whole object with the claim, so that labels and annotations of other clients are kept. */
export function withClaim(
  object: KubeObject,
  { identity, epoch, leaseSeconds, now }: LeaseClaim,
): KubeObject {
  const spec = {
    ...specOf(object),
    holderIdentity: identity,
    leaseDurationSeconds: leaseSeconds,
    acquireTime: formatMicroTime(now),
    renewTime: formatMicroTime(now),
    leaseTransitions: epoch,
  };
  return { ...object, spec };
}

/**
 * Renews a Lease that still carries this claim. The server tests that, and not the version of the object: so a renewal need not wait for
 * the answer to the one before it, and what others write to the Lease does not refuse it.
 */
export function renewalPatch(claim: LeaseClaim): Patch {
  return heldPatch(claim, [
    { op: 'add', path: '/spec/leaseDurationSeconds', value: claim.leaseSeconds },
    { op: 'add', path: '/spec/renewTime', value: formatMicroTime(claim.now) },
  ]);
}

/** Releases a Lease that still carries this claim. Keeps the epoch, so that the next term gets a higher one. */
export function releasePatch(claim: Omit<LeaseClaim, 'leaseSeconds'>): Patch {
  return heldPatch(claim, [
    { op: 'remove', path: '/spec/holderIdentity' },
    { op: 'add', path: '/spec/leaseDurationSeconds', value: 1 },
    { op: 'add', path: '/spec/renewTime', value: formatMicroTime(claim.now) },
  ]);
}

function heldPatch(
  { identity, epoch }: Pick<LeaseClaim, 'identity' | 'epoch'>,
  changes: readonly JsonRecord[],
): Patch {
  const tests = [
    { op: 'test', path: '/spec/holderIdentity', value: identity },
    { op: 'test', path: '/spec/leaseTransitions', value: epoch },
  ];
  return { type: 'json', body: [...tests, ...changes] };
}

export function createEmptyLease({ name, namespace }: ObjectName): KubeObject {
  return {
    apiVersion: `${LEASES.group}/${LEASES.version}`,
    kind: LEASES.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  };
}

/** Formats a metav1.MicroTime: the API server accepts exactly six fractional digits. */
export function formatMicroTime(moment: Date): string {
  return moment.toISOString().replace('Z', '000Z');
}

function specOf(object: KubeObject): JsonRecord {
  const spec = valueAt(object, 'spec');
  return isRecord(spec) ? spec : {};
}
