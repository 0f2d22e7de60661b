/** Verifies signatures of SSH over commits (OpenSSH, PROTOCOL.sshsig) with the cryptography of Node. Pure. */
import { createHash, verify } from 'node:crypto';
import { SignatureError } from '../signature-error.ts';
import { readSshKey, type SshPublicKey } from './public-key.ts';
import { readWire, unsigned, type WireReader, wireString } from './wire.ts';

export const SSH_ARMOR = '-----BEGIN SSH SIGNATURE-----';
const ARMOR = /^-----BEGIN SSH SIGNATURE-----\n(?<body>[A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\s*$/;
/** An RSA key of 16384 bits needs 6 KiB. */
const MAX_BYTES = 16 * 1024;
export const SSHSIG_MAGIC = 'SSHSIG';
export const SIGNED_NAMESPACE = 'git';
/** The person touched the security key. */
const USER_PRESENT = 1;

export interface SshSignature {
  /** The public key in binary form: who signed is decided by the files of allowed signers. */
  readonly key: Buffer;
  readonly hash: 'sha256' | 'sha512';
  readonly algorithm: string;
  /** Positioned after the name of the algorithm. */
  readonly content: Buffer;
  readonly reserved: Buffer;
}

export function parseSshSignature(armored: string): SshSignature {
  const body = armored.length > 2 * MAX_BYTES ? undefined : ARMOR.exec(armored)?.groups?.['body'];
  if (body === undefined) throw new SignatureError('its signature is not an armored signature of SSH');
  const wire = readWire(Buffer.from(body, 'base64'));
  const [magic, version] = [wire.bytes(SSHSIG_MAGIC.length).toString('latin1'), wire.uint32()];
  if (magic !== SSHSIG_MAGIC || version !== 1) {
    throw new SignatureError('its signature is not SSHSIG version 1');
  }
  const key = wire.string();
  const namespace = wire.text();
  if (namespace !== SIGNED_NAMESPACE) {
    throw new SignatureError(
      `its signature is for ${quoted(namespace)}, expected one for "${SIGNED_NAMESPACE}"`,
    );
  }
  const reserved = wire.string();
  const hash = hashOf(wire.text());
  const signature = wire.string();
  wire.end();
  const algorithm = readWire(signature).text();
  return { key, hash, algorithm, content: signature.subarray(4 + algorithm.length), reserved };
}

function hashOf(name: string): SshSignature['hash'] {
  if (name === 'sha256' || name === 'sha512') return name;
  throw new SignatureError('its signature is not over SHA-256 or SHA-512');
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

/** Throws when the signature was not made with its key over exactly these bytes. */
export function verifySshSignature(signature: SshSignature, payload: Buffer): void {
  const { hash, reserved } = signature;
  const key = readSshKey(signature.key);
  const digest = createHash(hash).update(payload).digest();
  const parts = [wireString(SIGNED_NAMESPACE), wireString(reserved), wireString(hash), wireString(digest)];
  const message = Buffer.concat([Buffer.from(SSHSIG_MAGIC), ...parts]);
  if (!isSignedBy(key, signature, message)) {
    throw new SignatureError(
      'its signature is over other content: the commit was changed after it was signed',
    );
  }
}

function isSignedBy(key: SshPublicKey, { algorithm, content }: SshSignature, message: Buffer): boolean {
  const wire = readWire(content);
  const value = wire.string();
  const signed = key.application ? onSecurityKey(key.application, wire, message) : message;
  wire.end();
  if (algorithm !== key.type && key.type !== 'ssh-rsa') {
    throw new SignatureError('the algorithm of its signature is not that of its key');
  }
  switch (key.type) {
    case 'ssh-rsa':
      return verify(rsaHash(algorithm), signed, key.key, padded(value, key.size));
    case 'ssh-ed25519':
    case 'sk-ssh-ed25519@openssh.com':
      return verify(null, signed, key.key, value);
    default:
      return verify(curveHash(key), signed, { key: key.key, dsaEncoding: 'ieee-p1363' }, halves(value, key));
  }
}

/** A security key signs digests, what the person did, and a counter. */
function onSecurityKey(application: Buffer, wire: WireReader, message: Buffer): Buffer {
  const rest = wire.bytes(5);
  if (((rest[0] ?? 0) & USER_PRESENT) === 0) {
    throw new SignatureError('its security key was not touched: sign with a key that requires it');
  }
  return Buffer.concat([sha256(application), rest, sha256(message)]);
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function rsaHash(algorithm: string): string {
  if (algorithm === 'rsa-sha2-512') return 'sha512';
  if (algorithm === 'rsa-sha2-256') return 'sha256';
  throw new SignatureError('its RSA signature uses SHA-1: sign with OpenSSH 8.2 or later');
}

function curveHash({ size }: SshPublicKey): string {
  if (size === 32) return 'sha256';
  return size === 48 ? 'sha384' : 'sha512';
}

function halves(value: Buffer, { size }: SshPublicKey): Buffer {
  const wire = readWire(value);
  const both = [wire.string(), wire.string()].map((half) => padded(unsigned(half), size));
  wire.end();
  return Buffer.concat(both);
}

function padded(number: Buffer, size: number): Buffer {
  if (number.length > size) throw new SignatureError('a number of its signature is too large for its key');
  return Buffer.concat([Buffer.alloc(size - number.length), number]);
}
