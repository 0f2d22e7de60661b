/** Decides whether the signature of a commit counts, and for the paths that it changes. */
import type { KeyVerdict } from './key-verdict.ts';
import { isCovered } from './path-rules.ts';
import type { SignatureCheck, SignerFile } from './signer-file.ts';
import type { SetFile } from './signer-sets.ts';

export interface CommitSignature {
  /** Asks a file of signers about the key. */
  readonly check: SignatureCheck;
  /** Reads the paths that the commit changes. Asked only where not all are allowed. */
  readonly paths: () => Promise<readonly string[]>;
}

/** The sets before the range and those of its head, in the same order. */
export interface SignersInForce {
  readonly before: readonly SetFile[];
  readonly head: readonly SetFile[];
}

const NOT_LISTED: KeyVerdict = { state: 'Unknown', name: 'its key' };

/**
 * Returns why a commit is refused. The key has to be listed in both: a new signer does not count in the range that adds the key, and
 * nothing that a removed key signed is accepted together with the removal.
 */
export async function commitRefusal(
  { check, paths }: CommitSignature,
  { before, head }: SignersInForce,
): Promise<string | undefined> {
  const reasons: KeyRefusal[] = [];
  const allowed: (readonly string[])[] = [];
  for (const [index, { set, file }] of before.entries()) {
    const reason = keyRefusal(set.keysPath, await askBoth(check, file, head[index]?.file));
    if (reason) reasons.push(reason);
    else allowed.push(set.paths);
  }
  return allowed.length === 0 ? mostSpecific(reasons) : pathRefusal(allowed, paths);
}

interface BothVerdicts {
  readonly before: KeyVerdict;
  readonly head: KeyVerdict;
}

async function askBoth(
  check: SignatureCheck,
  before: SignerFile | undefined,
  head: SignerFile | undefined,
): Promise<BothVerdicts> {
  const verdict = before ? await check(before) : NOT_LISTED;
  return { before: verdict, head: head && head !== before ? await check(head) : verdict };
}

interface KeyRefusal {
  readonly because: string;
  readonly isSpecific: boolean;
}

function keyRefusal(path: string, { before, head }: BothVerdicts): KeyRefusal | undefined {
  if (before.state === 'Refused') return { because: before.because, isSpecific: true };
  if (before.state === 'Unknown') {
    return { because: `${before.name} is in no signer file before these commits`, isSpecific: false };
  }
  if (head.state === 'Refused') return { because: head.because, isSpecific: true };
  if (head.state === 'Valid') return undefined;
  const because = `the key of ${before.name} is removed from ${path} together with it: push the removal on its own, after this commit was accepted`;
  return { because, isSpecific: true };
}

function mostSpecific(reasons: readonly KeyRefusal[]): string {
  const { because = 'the Pipeline lists no signers' } =
    reasons.find(({ isSpecific }) => isSpecific) ?? reasons[0] ?? {};
  return because;
}

const MAX_PATHS = 3;

async function pathRefusal(
  allowed: readonly (readonly string[])[],
  paths: () => Promise<readonly string[]>,
): Promise<string | undefined> {
  if (allowed.some((covered) => covered.length === 0)) return undefined;
  const denied = (await paths()).filter((path) => !allowed.some((covered) => isCovered(path, covered)));
  if (denied.length === 0) return undefined;
  const more = denied.length > MAX_PATHS ? ` and ${denied.length - MAX_PATHS} more` : '';
  return `its signer may not change ${denied.slice(0, MAX_PATHS).join(', ')}${more}`;
}
