/** Finds the person who signed a commit, as the file of signers lists the key. */
import type { SignersInForce } from './commit-refusal.ts';
import type { KeyVerdict } from './key-verdict.ts';
import type { SignatureCheck, SignerFile } from './signer-file.ts';

export type ValidKey = Extract<KeyVerdict, { state: 'Valid' }>;

/** Returns the name that counts: the key has to be valid before these commits and in their head. */
export async function findSigner(
  check: SignatureCheck,
  { before, head }: SignersInForce,
): Promise<ValidKey | undefined> {
  for (const [index, { file }] of before.entries()) {
    const found = await validKey(check, file);
    const fileOfHead = head[index]?.file;
    if (found === undefined) continue;
    if (fileOfHead === file || (await validKey(check, fileOfHead)) !== undefined) return found;
  }
  return undefined;
}

async function validKey(check: SignatureCheck, file: SignerFile | undefined): Promise<ValidKey | undefined> {
  const verdict = file && (await check(file));
  return verdict?.state === 'Valid' ? verdict : undefined;
}
