/** An SSH key of the tour, which signs commits as `git commit -S` does. It exists only in memory: the machine may have no ssh-keygen. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { wireString } from '../../sync/git/signatures/ssh/wire.ts';

export interface TourSigner {
  /** The line of allowed signers. */
  readonly entry: string;
  /** Returns the armored signature over a commit. */
  sign(commit: string): string;
}

const [TYPE, NAMESPACE, HASH, MAGIC] = ['ssh-ed25519', 'git', 'sha512', 'SSHSIG'] as const;

export function createTourSigner(name: string): TourSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const key = Buffer.concat([wireString(TYPE), wireString(raw)]);
  return {
    entry: `${name} ${TYPE} ${key.toString('base64')}\n`,
    sign(commit) {
      const digest = createHash(HASH).update(commit).digest();
      const about = [wireString(NAMESPACE), wireString(''), wireString(HASH)];
      const signed = sign(
        null,
        Buffer.concat([Buffer.from(MAGIC), ...about, wireString(digest)]),
        privateKey,
      );
      const signature = wireString(Buffer.concat([wireString(TYPE), wireString(signed)]));
      return armored(Buffer.concat([Buffer.from(MAGIC), VERSION, wireString(key), ...about, signature]));
    },
  };
}

const VERSION = Buffer.from([0, 0, 0, 1]);

function armored(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'].join('\n');
}
