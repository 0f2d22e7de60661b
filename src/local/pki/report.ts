/** Reports the certificates and keys that are in the files of a control plane: when they end, and what is wrong with them. */
import { createHash, createPublicKey } from 'node:crypto';
import { readFileIfExists } from '../../os/files.ts';
import { rememberByText } from '../../os/memo.ts';
import { readAuthority } from './authority.ts';
import { BACKDATED_MS, type CertificatePair } from './certificate.ts';
import { openCertificate, parsePair, renewalReason } from './inspect.ts';
import type { Leaf } from './leaves.ts';
import { renewBeforeMs } from './lifetime.ts';

export interface LeafReport {
  /** The name of the leaf. */
  readonly name: string;
  /** Why it has to be renewed, or made. */
  readonly due?: string | undefined;
  /** Undefined: it is missing, or cannot be read. */
  readonly file?: LeafFile | undefined;
}

export interface LeafFile {
  readonly serial: string;
  readonly issuedAt: Date;
  readonly notAfter: Date;
  readonly renewAt: Date;
}

export async function reportLeaf(leaf: Leaf): Promise<LeafReport> {
  const text = await readFileIfExists(leaf.path);
  return describeLeaf(leaf, text, await readAuthority(leaf.folder, leaf.authority));
}

/** Reports the certificate that has this text, and that this CA should have signed. */
export function describeLeaf(
  { name, request }: Pick<Leaf, 'name' | 'request'>,
  text: string | undefined,
  authority: CertificatePair | undefined,
): LeafReport {
  if (text === undefined) return { name, due: 'it is missing' };
  const pair = parsePair(text);
  if (!pair || !authority) return { name, due: pair ? 'its CA cannot be read' : 'it is damaged' };
  const { serialNumber: serial, validFromDate, validToDate: notAfter } = openCertificate(pair.certPem);
  const file = {
    serial,
    issuedAt: new Date(+validFromDate + BACKDATED_MS),
    notAfter,
    renewAt: new Date(+notAfter - renewBeforeMs(request)),
  };
  return { name, due: renewalReason(pair, authority, request), file };
}

/** Returns a digest of the public key of a private key, or of a CA with its key. Undefined: the file is missing or damaged. */
export async function keyDigest(path: string): Promise<string | undefined> {
  return keyDigestOf(await readFileIfExists(path));
}

/** Returns the digest for the text of a file. */
export function keyDigestOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : digestOfKey(text);
}

/** The keys that are made once, of a hundred control planes. */
const MAX_KEYS = 512;

const digestOfKey = rememberByText(MAX_KEYS, (text): string | undefined => {
  try {
    // The certificate of a CA must match its key.
    if (text.includes('BEGIN CERTIFICATE') && !parsePair(text)) return undefined;
    const key = createPublicKey(text.slice(text.search(/-----BEGIN (EC )?PRIVATE KEY-----/)));
    return createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex');
  } catch {
    return undefined;
  }
});
