import { describe, expect, it } from 'vitest';
import type { KeyVerdict } from '../../../../src/sync/git/signatures/key-verdict.ts';
import { findSigner } from '../../../../src/sync/git/signatures/signer.ts';
import type { SignerFile } from '../../../../src/sync/git/signatures/signer-file.ts';

const ANN: KeyVerdict = { state: 'Valid', name: 'ann' };
const BEN: KeyVerdict = { state: 'Valid', name: 'ben' };
const UNKNOWN: KeyVerdict = { state: 'Unknown', name: 'SSH key x' };
const REVOKED: KeyVerdict = { state: 'Refused', because: 'its key is revoked' };

/** Each set: the verdict of its file before the range, and in the head. `same`: the file did not change. */
type Set = readonly [before: KeyVerdict | undefined, head: KeyVerdict | 'same' | undefined];

async function nameOf(sets: readonly Set[]): Promise<string | undefined> {
  const verdicts = new Map<SignerFile, KeyVerdict>();
  const fileOf = (verdict: KeyVerdict): SignerFile => {
    const file = { ssh: new Map() };
    verdicts.set(file, verdict);
    return file;
  };
  const files = sets.map(([before, head], index) => {
    const set = { name: `s${index}`, keysPath: `keys/${index}`, paths: [] };
    const own = before && { file: fileOf(before) };
    const ofHead = head === 'same' ? own : head && { file: fileOf(head) };
    return { before: { set, ...own }, head: { set, ...ofHead } };
  });
  const signers = { before: files.map(({ before }) => before), head: files.map(({ head }) => head) };
  return (await findSigner(async (file) => verdicts.get(file) ?? UNKNOWN, signers))?.name;
}

describe('findSigner', () => {
  it.each<[name: string, sets: readonly Set[], expected: string | undefined]>([
    ['of a file that did not change', [[ANN, 'same']], 'ann'],
    ['of a file that changed otherwise', [[ANN, ANN]], 'ann'],
    ['of the file before, where the head gives the key another name', [[ANN, BEN]], 'ann'],
    [
      'of the second file, where the first does not list the key',
      [
        [UNKNOWN, 'same'],
        [BEN, 'same'],
      ],
      'ben',
    ],
    [
      'of the second file, where the head revokes the key in the first',
      [
        [ANN, REVOKED],
        [BEN, 'same'],
      ],
      'ben',
    ],
    ['of no signer, where the head removes the key', [[ANN, UNKNOWN]], undefined],
    ['of no signer, where the head adds the key', [[UNKNOWN, ANN]], undefined],
    ['of no signer, where the file is new', [[undefined, ANN]], undefined],
    ['of no signer, where the head removes the file', [[ANN, undefined]], undefined],
    ['of no signer without files', [], undefined],
  ])('S30 returns the name of the signer %s', async (_, sets, expected) => {
    expect(await nameOf(sets)).toBe(expected);
  });
});
