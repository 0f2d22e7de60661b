/** Reads public keys of SSH, and refuses weak ones. Pure. */
import { createHash, createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { SignatureError } from '../signature-error.ts';
import { readWire, unsigned, type WireReader } from './wire.ts';

export interface SshPublicKey {
  readonly type: string;
  readonly key: KeyObject;
  /** The bytes of one half of a signature of a curve, or of a whole one of RSA. */
  readonly size: number;
  /** The application of a key on a security key: what it signs differs. */
  readonly application?: Buffer;
}

/** Below 2048 bits RSA is weak; beyond 16384 OpenSSL does not verify. */
const RSA_BITS = { min: 2048, max: 16_384 };

interface Curve {
  readonly name: string;
  readonly jwk: string;
  readonly size: number;
}

const CURVES: Readonly<Record<string, Curve>> = {
  'ecdsa-sha2-nistp256': { name: 'nistp256', jwk: 'P-256', size: 32 },
  'ecdsa-sha2-nistp384': { name: 'nistp384', jwk: 'P-384', size: 48 },
  'ecdsa-sha2-nistp521': { name: 'nistp521', jwk: 'P-521', size: 66 },
  'sk-ecdsa-sha2-nistp256@openssh.com': { name: 'nistp256', jwk: 'P-256', size: 32 },
};

export function readSshKey(blob: Buffer): SshPublicKey {
  const wire = readWire(blob);
  const type = wire.text();
  const key = { type, ...readFields(type, wire) };
  const isOnSecurityKey = type.startsWith('sk-');
  const application = isOnSecurityKey ? wire.string() : undefined;
  wire.end();
  return { ...key, ...(application ? { application } : {}) };
}

/** Names a key like `ssh-keygen -l`. */
export function sshFingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

function readFields(type: string, wire: WireReader): Pick<SshPublicKey, 'key' | 'size'> {
  const curve = Object.hasOwn(CURVES, type) ? CURVES[type] : undefined;
  if (curve) return readCurve(curve, wire);
  switch (type) {
    case 'ssh-ed25519':
    case 'sk-ssh-ed25519@openssh.com':
      return { key: toKey({ kty: 'OKP', crv: 'Ed25519', x: toText(wire.string()) }), size: 32 };
    case 'ssh-rsa':
      return readRsa(wire);
    default:
      throw new SignatureError(
        `keys of type ${JSON.stringify(type.slice(0, 64))} are not accepted: use ssh-ed25519`,
      );
  }
}

function readCurve({ name, jwk, size }: Curve, wire: WireReader): Pick<SshPublicKey, 'key' | 'size'> {
  const named = wire.text();
  const point = wire.string();
  if (named !== name || point[0] !== 4 || point.length !== 1 + 2 * size) {
    throw new SignatureError(`its key is not an uncompressed point of ${name}`);
  }
  const [x, y] = [toText(point.subarray(1, 1 + size)), toText(point.subarray(1 + size))];
  return { key: toKey({ kty: 'EC', crv: jwk, x, y }), size };
}

function readRsa(wire: WireReader): Pick<SshPublicKey, 'key' | 'size'> {
  const [e, n] = [unsigned(wire.string()), unsigned(wire.string())];
  const bits = n.length === 0 ? 0 : n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
  if (bits < RSA_BITS.min || bits > RSA_BITS.max) {
    throw new SignatureError(
      `its RSA key has ${bits} bits, expected ${RSA_BITS.min} to ${RSA_BITS.max}: use ssh-ed25519`,
    );
  }
  return { key: toKey({ kty: 'RSA', n: toText(n), e: toText(e) }), size: n.length };
}

function toKey(key: webcrypto.JsonWebKey): KeyObject {
  try {
    return createPublicKey({ format: 'jwk', key });
  } catch (cause) {
    throw new SignatureError('its key is not valid', { cause });
  }
}

function toText(bytes: Buffer): string {
  return bytes.toString('base64url');
}
