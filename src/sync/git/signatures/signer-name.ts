/** Finds the name of the key that signed a commit, as the file of signers lists it. */
import type { SignersInForce } from './commit-refusal.ts';
import type { SignatureCheck, SignerFile } from './signer-file.ts';

/** Returns the name that counts: the key has to be valid before these commits and in their head. */
export async function signerName(
  check: SignatureCheck,
  { before, head }: SignersInForce,
): Promise<string | undefined> {
  for (const [index, { file }] of before.entries()) {
    const name = await validName(check, file);
    const fileOfHead = head[index]?.file;
    if (name === undefined) continue;
    if (fileOfHead === file || (await validName(check, fileOfHead)) !== undefined) return name;
  }
  return undefined;
}

async function validName(check: SignatureCheck, file: SignerFile | undefined): Promise<string | undefined> {
  const verdict = file && (await check(file));
  return verdict?.state === 'Valid' ? verdict.name : undefined;
}
