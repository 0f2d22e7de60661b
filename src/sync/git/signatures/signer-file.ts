/** A file of signers: SSH keys as lines of allowed signers, OpenPGP keys as armored blocks, or both. */
import { optional } from '../../../kube/objects/optional.ts';
import type { KeyVerdict } from './key-verdict.ts';
import { type OpenPgpKeys, PGP_ARMOR, readOpenPgpKeys, splitKeyBlocks } from './openpgp.ts';
import { SignatureError } from './signature-error.ts';
import type { SignedContent } from './signed-content.ts';
import { type AllowedSigner, type AllowedSigners, parseAllowedSigners } from './ssh/allowed-signers.ts';
import { createKeyOwners, type KeyOwners } from './ssh/people.ts';
import { sshFingerprint } from './ssh/public-key.ts';
import { parseSshSignature, SSH_ARMOR, type SshSignature, verifySshSignature } from './ssh/signature.ts';

export interface SignerFile {
  readonly ssh: AllowedSigners['byKey'];
  /** Absent: each key is a person. */
  readonly owners?: KeyOwners;
  readonly openpgp?: OpenPgpKeys;
  /** Why the file cannot be used as the file of the head. Its usable lines count all the same where it is the file before the head. */
  readonly problem?: string;
}

export async function readSignerFile(content: Uint8Array): Promise<SignerFile> {
  const { blocks, rest } = splitKeyBlocks(Buffer.from(content).toString('utf8'));
  const { byKey, problems } = parseAllowedSigners(rest);
  const { keys, problem } = await openPgpKeys(blocks);
  const isEmpty = byKey.size === 0 && !keys;
  const [reason] = [
    ...problems,
    ...(problem === undefined ? [] : [problem]),
    ...(isEmpty ? ['it lists no key'] : []),
  ];
  return {
    ssh: byKey,
    owners: createKeyOwners(byKey),
    ...optional('openpgp', keys),
    ...optional('problem', reason),
  };
}

async function openPgpKeys(
  blocks: readonly string[],
): Promise<{ readonly keys?: OpenPgpKeys; readonly problem?: string }> {
  if (blocks.length === 0) return {};
  try {
    return { keys: await readOpenPgpKeys(blocks) };
  } catch (error) {
    if (error instanceof SignatureError) return { problem: error.message };
    throw error;
  }
}

/** Asks a file whether it allows the key of a signature. The signature itself is verified before, or by the file. */
export type SignatureCheck = (file: SignerFile) => Promise<KeyVerdict>;

/** When a key has to be valid: the time that the commit names, which its author chooses, and now. */
export interface SigningTimes {
  readonly committedAt: Date;
  readonly now: Date;
}

/** Reads the signature of a commit. Throws a SignatureError when it has none, or one that counts in no file. */
export function readSignature({ signature, payload }: SignedContent, times: SigningTimes): SignatureCheck {
  if (signature === undefined) throw new SignatureError('it is not signed');
  if (signature.startsWith(PGP_ARMOR)) {
    const signed = { armored: signature, payload };
    return async ({ openpgp }) =>
      (await openpgp?.judge(signed, times.now)) ?? { state: 'Unknown', name: 'its OpenPGP key' };
  }
  if (!signature.startsWith(SSH_ARMOR)) {
    throw new SignatureError(
      'its signature is neither of SSH nor of OpenPGP: set gpg.format to ssh or openpgp',
    );
  }
  return sshCheck(parseSshSignature(signature), payload, times);
}

/** Keys are looked up first: only a signature of a listed key is worth the computation. */
function sshCheck(signature: SshSignature, payload: Buffer, times: SigningTimes): SignatureCheck {
  const key = signature.key.toString('base64');
  let isVerified = false;
  return async ({ ssh, owners }) => {
    const signers = ssh.get(key) ?? [];
    const name = `SSH key ${sshFingerprint(signature.key)}`;
    const valid = signers.find((signer) => isValid(signer, times));
    if (signers.length === 0) return { state: 'Unknown', name };
    if (!valid) return outOfTime(signers, times);
    if (!isVerified) verifySshSignature(signature, payload);
    isVerified = true;
    return { state: 'Valid', name: valid.principals, ...optional('person', owners?.(key)) };
  };
}

function isValid(signer: AllowedSigner, { committedAt, now }: SigningTimes): boolean {
  return isValidAt(signer, committedAt) && isValidAt(signer, now);
}

function isValidAt({ validAfter, validBefore }: AllowedSigner, at: Date): boolean {
  return (!validAfter || at >= validAfter) && (!validBefore || at < validBefore);
}

function outOfTime(signers: readonly AllowedSigner[], { committedAt }: SigningTimes): KeyVerdict {
  const limits = signers.map(({ principals, validAfter, validBefore }) => {
    const from = validAfter ? ` from ${validAfter.toISOString()}` : '';
    const until = validBefore ? ` until ${validBefore.toISOString()}` : '';
    return `the key of ${principals} is valid${from}${until} only`;
  });
  const wasValid = signers.some((signer) => isValidAt(signer, committedAt));
  const at = `the commit is of ${committedAt.toISOString()}`;
  return { state: 'Refused', because: `${wasValid ? 'its key is not valid now' : at}: ${limits.join(', ')}` };
}
