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
import type { CertificatePair } from '../../../../local/pki/certificate.ts';
import { HostingError } from '../../errors.ts';
import { type AuthorityAge, type KnownOrders, PHASE_AUTHORITIES } from '../rotation.ts';
import { nextOrder, publishedOrder } from './document-order.ts';
import type { RotationState } from './record.ts';

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

/** The record of a rotation that was taken back is removed. */
function returnedSubject({ rotation, phase, sequence }: SignedRecord): SigningSubject {
  const isLast = phase === 'TrustOld' || phase === 'TrustNew';
  const end = isLast ? { phase, sequence } : { phase: 'TrustOld' as const, sequence: sequence + 1 };
  return { rotation, ...end, isOver: true };
}

/** Both are the same when the rotation is over. */
export type SigningAuthorities = Readonly<Record<AuthorityAge, CertificatePair>>;

interface SigningParts {
  /** The UID of the Cluster. */
  readonly cluster: string;
  readonly authorities: SigningAuthorities;
  readonly last: SignedRecord | undefined;
  readonly known: KnownOrders;
  readonly now: Date;
}

/** Signs the document of the phase, or returns the last one where it is of that phase. */
export function signSubject(
  { phase, rotation: id, sequence }: SigningSubject,
  { cluster, authorities, last, known, now }: SigningParts,
): SignedRecord {
  const published = publishedOrder(known.published, {
    cluster,
    authorities: [authorities.old.certPem, authorities.new.certPem],
  });
  if (last && isSignedFor(last, { id, phase, sequence }) && published <= last.order) return last;
  const order = nextOrder({ signed: last?.order ?? 0, published, reported: known.reported });
  const next = signedBy(authorities, { cluster, order, rotation: id, phase });
  return { format: 1, order, rotation: id, phase, sequence, signedAt: now.toISOString(), ...next };
}

interface Published {
  readonly cluster: string;
  readonly order: number;
  readonly rotation: string;
  readonly phase: PublishedPhase;
}

/** The first authority is the one that issues. */
function signedBy(pairs: SigningAuthorities, published: Published): SignedAuthorities {
  const { trusts, signs } = PHASE_AUTHORITIES[published.phase];
  const authorities = trusts.map((age) => pairs[age].certPem);
  const issuer = sha256Of(authorities[0] ?? '');
  const document = formatDocument({ ...published, issuer, authorities });
  const { certPem, keyPem } = pairs[signs];
  const signature = sign('sha256', signedBytes(document), keyPem).toString('base64');
  return { document, signatures: JSON.stringify({ [sha256Of(certPem)]: signature }) };
}

function sha256Of(pem: string): string {
  return fingerprintOf(new X509Certificate(pem));
}

export function missingAuthority(where: string): HostingError {
  return new HostingError('KeysLost', 'an authority of the rotation is missing or damaged', {
    where,
    hint: 'restore the keys of the control plane from a backup',
  });
}
