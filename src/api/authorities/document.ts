/**
 * The document in which hosting publishes the authorities of a cluster while they are rotated. Everything that an agent decides on is in the
 * text that is signed. No npm package here: the agent imports this file.
 */
import { createHash, X509Certificate } from 'node:crypto';

/** The phases that are published. `TrustOld` and `TrustNew` stay published when the rotation is over. */
export const PUBLISHED_PHASES = ['TrustBoth', 'IssueNew', 'ServeNew', 'TrustNew', 'TrustOld'] as const;
export type PublishedPhase = (typeof PUBLISHED_PHASES)[number];

export interface AuthoritiesDocument {
  /** The UID of the Cluster in its hub. */
  readonly cluster: string;
  /** It grows with each document of the cluster, and never gets smaller. */
  readonly order: number;
  /** The ID of the rotation. */
  readonly rotation: string;
  readonly phase: PublishedPhase;
  /** The SHA-256 of the authority that issues certificates to clients. */
  readonly issuer: string;
  /** The certificates that clients trust, as PEM. */
  readonly authorities: readonly string[];
}

/** The data of the ConfigMap. */
export interface SignedAuthorities {
  /** The text that is signed. */
  readonly document: string;
  /**
   * Signatures in base64, by the SHA-256 of the certificate of the signer, as JSON. The former authority signs until the new one is the only
   * one, so that a host that trusts only the new one takes no earlier document.
   */
  readonly signatures: string;
}

export type Signatures = Readonly<Record<string, string>>;

/** A ConfigMap may have a megabyte. Two authorities have less than two thousand characters. */
const MAX_CHARACTERS = 65_536;
const MAX_AUTHORITIES = 4;
const MAX_TEXT = 128;

/** A rotation takes five orders. After a jump to the highest order no document could follow, so that an order further ahead counts for nothing. */
export const MAX_ORDER_JUMP = 10_000;

/** Formats the document with its fields in one order, so that the same content has the same signature. */
export function formatDocument(document: AuthoritiesDocument): string {
  const { cluster, order, rotation, phase, issuer, authorities } = document;
  return JSON.stringify({ cluster, order, rotation, phase, issuer, authorities });
}

/** Returns what is signed. Its begin keeps a signature from being valid for anything else that the key of an authority signs. */
export function signedBytes(document: string): Buffer {
  return Buffer.from(`kubenode authorities 1\n${document}`);
}

export function fingerprintOf(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}

/** A document whose certificates were read, or why it cannot be used. */
export type ParsedDocument =
  | (ReadDocument & { readonly signatures: Signatures })
  | { readonly problem: string };

interface ReadDocument {
  readonly document: AuthoritiesDocument;
  readonly authorities: ReadonlyMap<string, X509Certificate>;
}

/** Reads the data of the ConfigMap. It proves nothing: the signatures are not checked. */
export function parseSigned(data: Readonly<Record<string, unknown>> | undefined): ParsedDocument {
  const { document: text, signatures: signed } = data ?? {};
  if (typeof text !== 'string' || typeof signed !== 'string') {
    return { problem: 'expected the keys document and signatures' };
  }
  const size = text.length + signed.length;
  if (size > MAX_CHARACTERS) {
    return { problem: `it has ${size} characters, and at most ${MAX_CHARACTERS} are read` };
  }
  const parsed = parseDocument(text);
  if ('problem' in parsed) return parsed;
  const signatures = signaturesIn(signed);
  if (!signatures) return { problem: 'the signatures are not of this format' };
  return { ...parsed, signatures };
}

/** Reads the text of a document. No problem repeats a part of it, because nothing proves who wrote it. */
export function parseDocument(text: string): ReadDocument | { readonly problem: string } {
  const document = documentIn(text);
  if (!document) return { problem: 'the document is not one of this format' };
  const authorities = readAuthorities(document);
  return typeof authorities === 'string' ? { problem: authorities } : { document, authorities };
}

/** Returns the authorities by their SHA-256, or why the document is not usable. */
function readAuthorities({
  authorities,
  issuer,
}: AuthoritiesDocument): ReadonlyMap<string, X509Certificate> | string {
  const found = new Map<string, X509Certificate>();
  for (const pem of authorities) {
    const certificate = parseAuthority(pem);
    if (typeof certificate === 'string') return `an authority cannot be read: ${certificate}`;
    found.set(fingerprintOf(certificate), certificate);
  }
  return found.has(issuer) ? found : 'the authority that issues is not one of the trusted ones';
}

/** One certificate only: what follows the first in a PEM text would be trusted, and was never compared. */
function parseAuthority(pem: string): X509Certificate | string {
  const [only, ...others] = splitPem(pem);
  if (only === undefined || others.length > 0 || only !== pem) return 'expected one certificate in PEM';
  const certificate = certificateOf(only);
  if (!certificate) return 'it is not a certificate';
  return certificate.ca ? certificate : 'it is not an authority';
}

/** Returns the certificates of a PEM text, each with its last line break. */
export function splitPem(text: string): readonly string[] {
  return text.match(/-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n/g) ?? [];
}

/** Returns the certificates of a PEM text by their SHA-256. Those that cannot be read are left out. */
export function certificatesIn(text: string): ReadonlyMap<string, X509Certificate> {
  const found = new Map<string, X509Certificate>();
  for (const pem of splitPem(`${text.replaceAll('\r\n', '\n')}\n`)) {
    const certificate = certificateOf(pem);
    if (certificate) found.set(fingerprintOf(certificate), certificate);
  }
  return found;
}

function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** Returns the SHA-256 of the authority that signed the certificate. Undefined: none of them did. */
export function issuerOf(
  certificate: X509Certificate,
  authorities: ReadonlyMap<string, X509Certificate>,
): string | undefined {
  return [...authorities].find(([, authority]) => isIssuedBy(certificate, authority))?.[0];
}

export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function documentIn(text: string): AuthoritiesDocument | undefined {
  const { cluster, order, rotation, phase, issuer, authorities } = objectIn(text) ?? {};
  if (!isText(cluster) || !isText(rotation) || !isText(issuer) || !isPhase(phase)) return undefined;
  if (!isOrder(order) || !isList(authorities)) return undefined;
  return { cluster, order, rotation, phase, issuer, authorities };
}

function signaturesIn(text: string): Signatures | undefined {
  const found = objectIn(text);
  const entries = Object.entries(found ?? {});
  const isValid = found !== undefined && entries.every(([, value]) => typeof value === 'string');
  return isValid ? (found as Signatures) : undefined;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === 'object' && found !== null && !Array.isArray(found)
      ? (found as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_TEXT;
}

function isPhase(value: unknown): value is PublishedPhase {
  return PUBLISHED_PHASES.some((phase) => phase === value);
}

function isOrder(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isList(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_AUTHORITIES) return false;
  return value.every((each) => typeof each === 'string');
}
