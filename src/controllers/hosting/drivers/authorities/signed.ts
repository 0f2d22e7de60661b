/**
 * The document of the authorities that agents follow, signed by the former authority as long as it is trusted, and then by the new one. It is kept until the next one, also when the
 * rotation is over: agents that come late find it, and its order must never begin again. Pure.
 */
import { sign, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import {
  fingerprintOf,
  formatDocument,
  PUBLISHED_PHASES,
  type PublishedPhase,
  type SignedAuthorities,
  signedBytes,
} from '../../../../api/authorities/document.ts';
import { HostingError } from '../../errors.ts';
import { type KnownOrders, PHASE_AUTHORITIES } from '../rotation.ts';
import { type DocumentOwner, nextOrder, ownDocument, publishedOrder } from './document-order.ts';
import type { KeptAuthorities } from './keys.ts';
import { isSamePhase, type RotationState } from './record.ts';

export const signedRecord = z.strictObject({
  format: z.literal(1),
  order: z.int(),
  rotation: z.string(),
  phase: z.enum(PUBLISHED_PHASES),
  /** The count of phases of the rotation. A rotation that is taken back is in one phase twice. */
  sequence: z.int(),
  signedAt: z.string(),
  document: z.string(),
  signatures: z.string(),
});
export type SignedRecord = Readonly<z.infer<typeof signedRecord>>;

export function isSignedFor(
  signed: SignedRecord | undefined,
  { id, phase, sequence }: Pick<RotationState, 'id' | 'phase' | 'sequence'>,
): boolean {
  return signed?.rotation === id && signed.phase === phase && signed.sequence === sequence;
}

/** Identifies the phase that a document is signed for. */
export interface SigningSubject {
  readonly rotation: string;
  readonly phase: PublishedPhase;
  readonly sequence: number;
  /** Whether the kept keys were removed: one authority is left. */
  readonly isOver: boolean;
}

/** Undefined: nothing is to be signed now. */
export function signingSubject(
  rotation: RotationState | undefined,
  last: SignedRecord | undefined,
): SigningSubject | undefined {
  if (!rotation) return last && returnedSubject(last);
  const { id, sequence, isApplied } = rotation;
  if (rotation.phase === 'Completed') {
    return last && { rotation: id, phase: 'TrustNew', sequence, isOver: true };
  }
  const phase = PUBLISHED_PHASES.find((each) => each === rotation.phase);
  return phase && isApplied ? { rotation: id, phase, sequence, isOver: false } : undefined;
}

/** Tells whether the rotation is still in the phase that was observed. Another process may have entered the next one meanwhile. */
export function isObservedPhase(
  rotation: Pick<RotationState, 'id' | 'phase' | 'sequence'> | undefined,
  observed: KnownOrders['observed'],
): boolean {
  if (!observed) return true;
  const { rotation: asked } = observed;
  if (!rotation || !asked) return rotation === asked;
  return isSamePhase(rotation, { ...asked, sequence: asked.sequence ?? rotation.sequence });
}

/** The record of a rotation that was taken back is removed. */
function returnedSubject({ rotation, phase, sequence }: SignedRecord): SigningSubject {
  const isLast = phase === 'TrustOld' || phase === 'TrustNew';
  const end = isLast ? { phase, sequence } : { phase: 'TrustOld' as const, sequence: sequence + 1 };
  return { rotation, ...end, isOver: true };
}

interface SigningParts {
  /** The UID of the Cluster. */
  readonly cluster: string;
  /** Both are the same when the rotation is over. One that the document does not need may be lost. */
  readonly authorities: KeptAuthorities;
  /** Where the control plane is, for people. */
  readonly where: string;
  readonly last: SignedRecord | undefined;
  readonly known: KnownOrders;
  readonly now: Date;
}

/**
 * Signs the document of the phase, or returns the last one where it is of that phase. One that none of our keys signed is signed again, and its
 * order counts as one that an agent reports.
 */
export function signSubject(
  { phase, rotation: id, sequence }: SigningSubject,
  { cluster, authorities, where, last, known, now }: SigningParts,
): SignedRecord {
  const certificates = [authorities.old, authorities.new].flatMap((pair) => pair?.certPem ?? []);
  const owner = { cluster, authorities: certificates };
  const published = publishedOrder(known.published, owner);
  const own = last && isOwn(last, owner) ? last : undefined;
  if (own && isSignedFor(own, { id, phase, sequence }) && published <= own.order) return own;
  const order = orderAfter(last, { own, published, reported: known.reported });
  const next = signedBy(authorities, { cluster, order, rotation: id, phase }, where);
  return { format: 1, order, rotation: id, phase, sequence, signedAt: now.toISOString(), ...next };
}

interface KnownBefore {
  readonly own: SignedRecord | undefined;
  readonly published: number;
  readonly reported: readonly number[];
}

function orderAfter(last: SignedRecord | undefined, { own, published, reported }: KnownBefore): number {
  const others = last ? [...reported, last.order] : reported;
  return nextOrder({ signed: own?.order ?? 0, published, reported: others });
}

/** Tells whether one of our keys signed the document, and it is that of the record. */
function isOwn(
  { document, signatures, order, rotation, phase }: SignedRecord,
  owner: DocumentOwner,
): boolean {
  const found = ownDocument({ document, signatures }, owner);
  return found?.order === order && found.rotation === rotation && found.phase === phase;
}

interface Published {
  readonly cluster: string;
  readonly order: number;
  readonly rotation: string;
  readonly phase: PublishedPhase;
}

/** The first authority is the one that issues. Throws where an authority is lost that signs the document, or that it has. */
function signedBy(pairs: KeptAuthorities, published: Published, where: string): SignedAuthorities {
  const { trusts, signs } = PHASE_AUTHORITIES[published.phase];
  const authorities = trusts.flatMap((age) => pairs[age]?.certPem ?? []);
  const signer = pairs[signs];
  if (!signer || authorities.length < trusts.length) throw missingAuthority(where);
  const issuer = sha256Of(authorities[0] ?? '');
  const document = formatDocument({ ...published, issuer, authorities });
  const signature = sign('sha256', signedBytes(document), signer.keyPem).toString('base64');
  return { document, signatures: JSON.stringify({ [sha256Of(signer.certPem)]: signature }) };
}

function sha256Of(pem: string): string {
  return fingerprintOf(new X509Certificate(pem));
}

function missingAuthority(where: string): HostingError {
  return new HostingError('KeysLost', 'an authority of the rotation is missing or damaged', {
    where,
    hint: 'restore the keys of the control plane from a backup',
  });
}
