/**
 * Decides whether the agent trusts what was published of the authorities of its cluster. A client that may write the ConfigMap can write
 * anything into it: an authority that the agent trusts now, and that stays, has to have signed it. Pure.
 */
import { verify, type X509Certificate } from 'node:crypto';
import {
  type AuthoritiesDocument,
  certificatesIn,
  MAX_ORDER_JUMP,
  parseSigned,
  type Signatures,
  signedBytes,
} from '../../api/authorities/document.ts';

/** The document that the agent has followed, as it is kept on the disk. */
export interface FollowedAuthorities extends AuthoritiesDocument {
  /** The text that was signed. */
  readonly text: string;
  /** Whether the file of the CA has these authorities. */
  readonly isApplied: boolean;
  /** When the authorities of the file changed last. */
  readonly changedAt: string;
  /** The SHA-256 of the CA that the host joined with. A record of another one counts for nothing: a person has joined the host again. */
  readonly joinedWith: string;
  /** The kubelets that ran when the file was written. Undefined: the host joined with these authorities. */
  readonly outdated?: readonly string[];
}

export interface PublishedInput {
  /** The data of the ConfigMap. Undefined: nothing is published. */
  readonly published: Readonly<Record<string, unknown>> | undefined;
  /** The file of the CA: what the agent trusts now. */
  readonly trusted: string;
  readonly followed: Pick<FollowedAuthorities, 'cluster' | 'order' | 'text'> | undefined;
}

export type FollowDecision =
  /** Nothing is published, or it is what the agent follows. */
  | { readonly type: 'Keep' }
  | { readonly type: 'Follow'; readonly document: AuthoritiesDocument; readonly text: string }
  | { readonly type: 'Refuse'; readonly because: string };

export function decideFollow({ published, trusted, followed }: PublishedInput): FollowDecision {
  if (!published) return { type: 'Keep' };
  const parsed = parseSigned(published);
  if ('problem' in parsed) return refuse(parsed.problem);
  const text = String(published['document']);
  const { document, authorities, signatures } = parsed;
  if (followed?.text === text) return { type: 'Keep' };
  // The signature comes first: a reason that names what a document contains is shown to people.
  const because =
    signatureReason(text, signatures, staying(certificatesIn(trusted), authorities)) ??
    historyReason(document, followed);
  return because === undefined ? { type: 'Follow', document, text } : refuse(because);
}

function refuse(because: string): FollowDecision {
  return { type: 'Refuse', because };
}

/** An earlier document was signed as well: with it, an authority that was taken back would be trusted again. */
function historyReason(
  { cluster, order }: AuthoritiesDocument,
  followed: PublishedInput['followed'],
): string | undefined {
  if (!followed) return undefined;
  if (cluster !== followed.cluster) {
    return `it is of Cluster ${cluster}, and this host belongs to ${followed.cluster}`;
  }
  const orders = `${order}, and this host follows ${followed.order}`;
  if (order < followed.order) return `it is older: its order is ${orders}`;
  if (order === followed.order) return `it is another document of the same order ${order}`;
  return order - followed.order > MAX_ORDER_JUMP
    ? `its order is more than ${MAX_ORDER_JUMP} ahead: it is ${orders}`
    : undefined;
}

type Authorities = ReadonlyMap<string, X509Certificate>;

/** Returns the authorities that the agent trusts, and that the document keeps. */
function staying(trusted: Authorities, next: Authorities): Authorities {
  return new Map([...trusted].filter(([fingerprint]) => next.has(fingerprint)));
}

function signatureReason(text: string, signatures: Signatures, signers: Authorities): string | undefined {
  if (signers.size === 0) return 'it keeps no authority that this host trusts';
  const isSigned = [...signers].some(([fingerprint, { publicKey }]) =>
    isSignedBy(text, signatures[fingerprint], publicKey),
  );
  return isSigned ? undefined : 'no authority that this host trusts, and that stays trusted, has signed it';
}

function isSignedBy(text: string, signature: string | undefined, key: X509Certificate['publicKey']): boolean {
  if (signature === undefined) return false;
  try {
    return verify('sha256', signedBytes(text), key, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
