/** Reads a private key in the form of OpenSSH, without a passphrase. Pure. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignatureError } from '../signature-error.ts';
import { readWire } from './wire.ts';

export interface SshPrivateKey {
  /** The public key in binary form. */
  readonly blob: Buffer;
  readonly key: KeyObject;
}

const ARMOR =
  /^-----BEGIN OPENSSH PRIVATE KEY-----\s(?<body>[A-Za-z0-9+/=\s]*)-----END OPENSSH PRIVATE KEY-----$/;
const MAGIC = 'openssh-key-v1\0';
const TYPE = 'ssh-ed25519';
const HALF = 32;

/** Throws SignatureError for another form of key. No message contains a part of the key. */
export function readSshPrivateKey(text: string): SshPrivateKey {
  try {
    return readKey(text);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    throw new SignatureError(
      `the signing key is not usable: ${error.message}. Make one with: ssh-keygen -t ed25519 -N '' -f signing-key`,
    );
  }
}

function readKey(text: string): SshPrivateKey {
  const body = ARMOR.exec(text.trim())?.groups?.['body'];
  if (body === undefined) throw new SignatureError('expected -----BEGIN OPENSSH PRIVATE KEY-----');
  const wire = readWire(Buffer.from(body, 'base64'));
  const magic = wire.bytes(MAGIC.length).toString('latin1');
  if (magic !== MAGIC) throw new SignatureError('it is not in the form of OpenSSH');
  const [cipher] = [wire.text(), wire.string(), wire.string()];
  if (cipher !== 'none') throw new SignatureError('it has a passphrase');
  if (wire.uint32() !== 1) throw new SignatureError('expected one key');
  const blob = wire.string();
  return { blob, key: readSecretPart(wire.string()) };
}

function readSecretPart(content: Buffer): KeyObject {
  const wire = readWire(content);
  if (wire.uint32() !== wire.uint32()) throw new SignatureError('it is damaged');
  const type = wire.text();
  if (type !== TYPE) {
    throw new SignatureError(`its type is ${JSON.stringify(type.slice(0, 64))}, expected ${TYPE}`);
  }
  const [publicHalf, both] = [wire.string(), wire.string()];
  if (publicHalf.length !== HALF || both.length !== 2 * HALF) throw new SignatureError('it is damaged');
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: base64(both.subarray(0, HALF)), x: base64(publicHalf) };
  try {
    return createPrivateKey({ format: 'jwk', key: jwk });
  } catch {
    throw new SignatureError('it is damaged');
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64url');
}
