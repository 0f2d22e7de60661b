/** Reads age identities, and unwraps the data keys of encrypted files. The package is loaded with the first of them. */
import { SopsError } from './values.ts';

export interface AgeKeys {
  /** The public halves, which the files name. */
  readonly recipients: readonly string[];
  /** Returns the data key that was wrapped for one of the recipients. Throws a SopsError. */
  unwrap(armored: string): Promise<Uint8Array>;
}

const IDENTITY = /^AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]+$/;
/** Each identity is tried for a wrapped key, which takes some 1 ms. */
const MAX_IDENTITIES = 16;

/**
 * Reads the identities of a file as `age-keygen` writes it, one a line: while keys are replaced, there are two. Throws a SopsError, which
 * names no line of the file by its text. The identities stay in the closure, so that nothing can print them.
 */
export async function readAgeKeys(text: string): Promise<AgeKeys> {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const identities = lines.filter(({ line }) => line !== '' && !line.startsWith('#'));
  const invalid = identities.find(({ line }) => !IDENTITY.test(line));
  if (invalid) throw new SopsError(`line ${invalid.number} is not an age identity: ${EXPECTED}`);
  if (identities.length === 0) throw new SopsError(`it has no age identity: ${EXPECTED}`);
  if (identities.length > MAX_IDENTITIES) {
    throw new SopsError(`expected at most ${MAX_IDENTITIES} age identities, got ${identities.length}`);
  }
  const { Decrypter, armor, identityToRecipient } = await import('age-encryption');
  const decrypter = new Decrypter();
  const recipients: string[] = [];
  for (const { line, number } of identities) {
    try {
      recipients.push(await identityToRecipient(line));
      decrypter.addIdentity(line);
    } catch {
      // The error of the package may quote the identity.
      throw new SopsError(`line ${number} is not an age identity, or is damaged: ${EXPECTED}`);
    }
  }
  return {
    recipients,
    async unwrap(armored) {
      try {
        return await decrypter.decrypt(armor.decode(armored));
      } catch {
        throw new SopsError('the wrapped data key is damaged: encrypt the file again with sops');
      }
    },
  };
}

const EXPECTED = 'expected lines such as AGE-SECRET-KEY-1… from age-keygen';
