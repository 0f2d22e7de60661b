/** Signs commits as `git commit -S` does with a key of SSH. Pure: the signature of ed25519 has no random part. */
import { createHash, sign } from 'node:crypto';
import { readSshPrivateKey, type SshPrivateKey } from './private-key.ts';
import { SIGNED_NAMESPACE, SSHSIG_MAGIC } from './signature.ts';
import { wireString } from './wire.ts';

const HASH = 'sha512';
const LINE = /.{1,70}/g;

/** Returns the armored signature. Throws SignatureError if the key is not usable. */
export function sshSignature(privateKey: string, payload: Buffer): string {
  return signWith(readSshPrivateKey(privateKey), payload);
}

/** Returns the armored signature of a key that was read before. */
export function signWith({ blob, key }: SshPrivateKey, payload: Buffer): string {
  const digest = createHash(HASH).update(payload).digest();
  const signed = [wireString(SIGNED_NAMESPACE), wireString(''), wireString(HASH)];
  const message = Buffer.concat([Buffer.from(SSHSIG_MAGIC), ...signed, wireString(digest)]);
  const content = Buffer.concat([wireString('ssh-ed25519'), wireString(sign(null, message, key))]);
  const version = Buffer.alloc(4);
  version.writeUInt32BE(1);
  const whole = [Buffer.from(SSHSIG_MAGIC), version, wireString(blob), ...signed, wireString(content)];
  const lines = Buffer.concat(whole).toString('base64').match(LINE) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'].join('\n');
}
