import { describe, expect, it } from 'vitest';
import { commitRefusal } from '../../../../src/sync/git/signatures/commit-refusal.ts';
import type { KeyVerdict } from '../../../../src/sync/git/signatures/key-verdict.ts';
import type { SignerFile } from '../../../../src/sync/git/signatures/signer-file.ts';

const VALID: KeyVerdict = { state: 'Valid', name: 'ann' };
const UNKNOWN: KeyVerdict = { state: 'Unknown', name: 'SSH key x' };
const EXPIRED = { state: 'Refused', because: 'its key is not valid now' } as const;
const REVOKED = { state: 'Refused', because: 'its key is revoked' } as const;

interface TestSet {
  readonly paths?: readonly string[];
  /** Undefined: the accepted commit has no such file. */
  readonly before: KeyVerdict | undefined;
  /** The same file as before, if absent. */
  readonly head?: KeyVerdict;
}

async function refusal(
  sets: readonly TestSet[],
  changed: readonly string[] = [],
): Promise<string | undefined> {
  const verdicts = new Map<SignerFile, KeyVerdict>();
  const files = sets.map(({ paths = [], before, head }, index) => {
    const set = { name: `s${index}`, keysPath: `keys/${index}`, paths };
    const fileBefore = before && addFile(before);
    return { before: { set, ...fileBefore }, head: { set, ...(head ? addFile(head) : fileBefore) } };
  });
  const signers = { before: files.map((each) => each.before), head: files.map((each) => each.head) };
  const check = async (file: SignerFile): Promise<KeyVerdict> => verdicts.get(file) ?? UNKNOWN;
  return await commitRefusal({ check, paths: async () => changed }, signers);

  function addFile(verdict: KeyVerdict): { readonly file: SignerFile } {
    const file = { ssh: new Map() };
    verdicts.set(file, verdict);
    return { file };
  }
}

const NOT_LISTED = 'SSH key x is in no signer file before these commits';
const REMOVED =
  'the key of ann is removed from keys/0 together with it: push the removal on its own, after this commit was accepted';

describe('the signature of a commit', () => {
  it.each<[name: string, sets: readonly TestSet[], expected: string | undefined]>([
    ['counts if one file lists its key', [{ before: UNKNOWN }, { before: VALID }], undefined],
    ['does not count if no file lists its key', [{ before: UNKNOWN }, { before: UNKNOWN }], NOT_LISTED],
    [
      'does not count if the file is new',
      [{ before: undefined, head: VALID }],
      'its key is in no signer file before these commits',
    ],
    [
      'is refused for the reason of the file that lists its key',
      [{ before: UNKNOWN }, { before: EXPIRED }],
      EXPIRED.because,
    ],
    [
      'is refused for that reason also in the other order',
      [{ before: EXPIRED }, { before: UNKNOWN }],
      EXPIRED.because,
    ],
    ['is refused if the head revokes its key', [{ before: VALID, head: REVOKED }], REVOKED.because],
    ['is refused if the head removes its key', [{ before: VALID, head: UNKNOWN }], REMOVED],
    [
      'counts if another file keeps the key',
      [{ before: VALID, head: UNKNOWN }, { before: VALID }],
      undefined,
    ],
    ['does not count for a Pipeline without signers', [], 'the Pipeline lists no signers'],
  ])('S19 the signature of a commit %s', async (_, sets, expected) => {
    expect(await refusal(sets)).toBe(expected);
  });

  it.each<[name: string, sets: readonly TestSet[], expected: string | undefined]>([
    ['all of them by a set without paths', [{ before: VALID }, { before: VALID, paths: ['a'] }], undefined],
    [
      'those of each set that lists the key',
      [
        { before: VALID, paths: ['a', 'b'] },
        { before: VALID, paths: ['c', 'd', 'e'] },
      ],
      undefined,
    ],
    [
      'none of a set that does not list the key',
      [{ before: VALID, paths: ['a'] }, { before: UNKNOWN }],
      'its signer may not change b, c, d and 1 more',
    ],
    [
      'none of a set whose key the head removes',
      [
        { before: VALID, paths: ['a', 'b', 'c', 'd'] },
        { before: VALID, head: UNKNOWN },
      ],
      'its signer may not change e',
    ],
  ])('S19 the paths that a signer may change are %s', async (_, sets, expected) => {
    expect(await refusal(sets, ['a', 'b', 'c', 'd', 'e'])).toBe(expected);
  });
});
