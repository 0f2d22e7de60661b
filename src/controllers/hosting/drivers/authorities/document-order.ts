/**
 * Finds the order of the next document of the authorities. It must never begin again: agents refuse what is older than what they follow. The
 * folder may be that of a backup, so that what is published and what agents report counts as well.
 */
import { verify, X509Certificate } from 'node:crypto';
import {
  type AuthoritiesDocument,
  fingerprintOf,
  MAX_ORDER_JUMP,
  parseSigned,
  type SignedAuthorities,
  signedBytes,
} from '../../../../api/authorities/document.ts';

/**
 * An agent reports what it likes, and agents refuse an order that is far ahead. Two hundred rotations have fewer documents than this.
 */
const MAX_AHEAD = 1000;

interface Orders {
  /** The order of the last document in the folder, or 0. */
  readonly signed: number;
  /** The order of the published document that is ours, or 0. */
  readonly published: number;
  /** The orders that agents report. */
  readonly reported: readonly number[];
}

/** A client with a former key can publish the highest order, which no agent follows and after which none is left. */
export function nextOrder({ signed, published, reported }: Orders): number {
  const last = published - signed > MAX_ORDER_JUMP ? signed : Math.max(signed, published);
  return Math.max(last, ...reported.filter((order) => order <= last + MAX_AHEAD)) + 1;
}

export interface DocumentOwner {
  /** The UID of the Cluster. */
  readonly cluster: string;
  /** The authorities whose keys are in the folder, as PEM. */
  readonly authorities: readonly string[];
}

/** Returns the document. Undefined: it is not ours, because none of our keys signed it. */
export function ownDocument(
  signed: SignedAuthorities | undefined,
  { cluster, authorities }: DocumentOwner,
): AuthoritiesDocument | undefined {
  const found = signed && parseSigned({ ...signed });
  if (!found || 'problem' in found || found.document.cluster !== cluster) return undefined;
  const isOurs = authorities.some((pem) => isSignedWith(pem, signed.document, found.signatures));
  return isOurs ? found.document : undefined;
}

/** Returns the order of the document that is published. 0: it is not ours. */
export function publishedOrder(published: SignedAuthorities | undefined, owner: DocumentOwner): number {
  return ownDocument(published, owner)?.order ?? 0;
}

function isSignedWith(pem: string, document: string, signatures: Readonly<Record<string, string>>): boolean {
  const certificate = new X509Certificate(pem);
  const signature = Buffer.from(signatures[fingerprintOf(certificate)] ?? '', 'base64');
  return verify('sha256', signedBytes(document), certificate.publicKey, signature);
}
