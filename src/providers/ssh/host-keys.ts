/** Decides whether the key of a host is accepted. Pure. */
import { createHash } from 'node:crypto';
import type { HostKey } from '../../api/generated/types.ts';

/** The policies of Machine.spec.import. `known` is the key that TrustOnFirstUse recorded; without it the first key is accepted. */
export type HostKeyPolicy =
  | { readonly type: 'Pinned'; readonly keys: readonly HostKey[] }
  | { readonly type: 'TrustOnFirstUse'; readonly known?: HostKey };

/**
 * Maps each type of key to the signature algorithms that are negotiated for it, best first. DSA, and RSA with SHA-1, are not
 * negotiated at all.
 */
const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256'],
};

/** The types that one connection each can find: a server has at most one key of each line. */
export const SCANNED_ALGORITHMS: readonly (readonly string[])[] = [
  signaturesOf(['ssh-ed25519']),
  signaturesOf(['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521']),
  signaturesOf(['ssh-rsa']),
];

export function isHostKeyAlgorithm(algorithm: string): boolean {
  return Object.hasOwn(SIGNATURES, algorithm);
}

/** Reads a public key as it is sent: its type is the first field of it. */
export function hostKeyOf(blob: Buffer): HostKey {
  const length = blob.length >= 4 ? blob.readUInt32BE(0) : 0;
  const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return { algorithm: blob.toString('latin1', 4, 4 + length), fingerprint: `SHA256:${digest}` };
}

/** Explains why the offered key is refused; undefined: it is accepted. */
export function hostKeyReason(policy: HostKeyPolicy, offered: HostKey): string | undefined {
  const accepted = acceptedBy(policy);
  if (policy.type === 'TrustOnFirstUse' && accepted.length === 0) return undefined;
  if (accepted.some((key) => isSameKey(key, offered))) return undefined;
  const expected = accepted.map(formatHostKey).join(' or ') || 'a pinned key, and none is pinned';
  return `expected ${expected}, got ${formatHostKey(offered)}`;
}

/**
 * Returns the signature algorithms to negotiate. The types of the accepted keys come first, so that a server with several keys shows one
 * that can be accepted.
 */
export function hostKeyAlgorithms(policy: HostKeyPolicy): readonly string[] {
  const accepted = new Set(acceptedBy(policy).map(({ algorithm }) => algorithm));
  const types = Object.keys(SIGNATURES);
  return signaturesOf([
    ...types.filter((type) => accepted.has(type)),
    ...types.filter((type) => !accepted.has(type)),
  ]);
}

export function formatHostKey({ algorithm, fingerprint }: HostKey): string {
  return `${algorithm} ${fingerprint}`;
}

export function isSameKey(one: HostKey, other: HostKey): boolean {
  return one.algorithm === other.algorithm && one.fingerprint === other.fingerprint;
}

function acceptedBy(policy: HostKeyPolicy): readonly HostKey[] {
  if (policy.type === 'Pinned') return policy.keys;
  return policy.known ? [policy.known] : [];
}

function signaturesOf(types: readonly string[]): readonly string[] {
  return types.flatMap((type) => SIGNATURES[type] ?? []);
}
