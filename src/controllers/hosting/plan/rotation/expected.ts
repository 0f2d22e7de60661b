/** Reads what the agents of a cluster are to report, from the document that hosting has signed for them. Pure. */
import { createHash } from 'node:crypto';
import type {
  AuthoritiesDocument,
  PublishedPhase,
  SignedAuthorities,
} from '../../../../api/authorities/document.ts';

export interface ExpectedAuthorities {
  readonly rotation: string;
  readonly phase: PublishedPhase;
  readonly order: number;
  readonly issuer: string;
  /** The SHA-256 of each authority. */
  readonly trusted: readonly string[];
}

/** Undefined: nothing was signed, or something that cannot be read. */
export function expectedAuthorities(signed: SignedAuthorities | undefined): ExpectedAuthorities | undefined {
  const document = signed && documentIn(signed);
  if (!document) return undefined;
  const { rotation, phase, order, issuer, authorities } = document;
  return { rotation, phase, order, issuer, trusted: authorities.map(fingerprint) };
}

/** Hosting has written the text itself, so that it is not judged again: a planner is pure, and reads no certificates. */
function documentIn({ document }: SignedAuthorities): AuthoritiesDocument | undefined {
  try {
    return JSON.parse(document) as AuthoritiesDocument;
  } catch {
    return undefined;
  }
}

function fingerprint(pem: string): string {
  const base64 = pem.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex');
}
