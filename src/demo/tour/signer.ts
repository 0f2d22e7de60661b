/** An SSH key of the tour, which signs commits as `git commit -S` does. It exists only in memory: the machine may have no ssh-keygen. */
import { generateKeyPairSync } from 'node:crypto';
import { signWith } from '../../sync/git/signatures/ssh/sign.ts';
import { wireString } from '../../sync/git/signatures/ssh/wire.ts';

export interface TourSigner {
  /** The line of allowed signers. */
  readonly entry: string;
  /** Returns the armored signature over a commit. */
  sign(commit: string): string;
}

const TYPE = 'ssh-ed25519';

export function createTourSigner(name: string): TourSigner {
  const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const blob = Buffer.concat([wireString(TYPE), wireString(raw)]);
  return {
    entry: `${name} ${TYPE} ${blob.toString('base64')}\n`,
    sign: (commit) => signWith({ blob, key }, Buffer.from(commit)),
  };
}
