import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  readOwnNames,
  selfApprovalReason,
} from '../../../../../src/cli/commands/release/approve/own-names.ts';
import { sshFingerprint } from '../../../../../src/sync/git/signatures/ssh/public-key.ts';
import { createTestRepository } from '../../../../support/git-server/repository.ts';
import { createSshSigner } from '../../../../support/git-server/signer.ts';
import { tempFolder } from '../../../../support/temp.ts';

const ann = createSshSigner('ann');
const PUBLIC = readFileSync(`${ann.keyFile}.pub`, 'utf8').trim();
const FINGERPRINT = sshFingerprint(Buffer.from(PUBLIC.split(' ')[1] ?? '', 'base64')).toLowerCase();
const NAMES = ['ann', 'ann@example.com', 'bob', 'bob@example.com'];

function own(config: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const repository = createTestRepository(tempFolder('own'));
  for (const [key, value] of Object.entries(config)) repository.git('config', key, value);
  const git = (...args: readonly string[]): Promise<string> =>
    Promise.resolve().then(() => repository.git(...args));
  return readOwnNames({ root: repository.dir, branch: 'main', git });
}

describe('the user of a repository', () => {
  it.each([
    ['the private key', ann.keyFile],
    ['the public key', `${ann.keyFile}.pub`],
    ['a key in the configuration', PUBLIC],
    ['a key with a prefix', `key::${PUBLIC}`],
  ])('S36 is known by author, committer and the SSH key that is configured as %s', async (_, key) => {
    const names = await own({ 'gpg.format': 'ssh', 'user.signingkey': key });
    expect(names).toEqual([...NAMES, FINGERPRINT]);
  });

  it.each([
    ['no key', {}],
    ['a key of OpenPGP', { 'user.signingkey': ann.keyFile }],
    ['a file that is missing', { 'gpg.format': 'ssh', 'user.signingkey': '/nowhere/key' }],
  ])('S36 is known by names alone with %s', async (_, config) => {
    expect(await own(config)).toEqual(NAMES);
  });
});

describe('selfApprovalReason', () => {
  it.each<[what: string, excluded: readonly string[] | undefined, reason: string | undefined]>([
    ['the stage asks for no other person', undefined, undefined],
    ['others have part in the change', ['eve', 'eve@example.com'], undefined],
    [
      'the address has part in it',
      ['bob@example.com'],
      'bob@example.com, as whom git commits here, has part',
    ],
    ['the key has part in it', [FINGERPRINT], `${FINGERPRINT}, as whom git commits here`],
    ['anybody could have part in it', ['*'], 'not everybody who has part in these commits is known'],
  ])('S36 refuses an approval before it is signed, or not, where %s', (_, excluded, reason) => {
    const found = selfApprovalReason(excluded, [...NAMES, FINGERPRINT]);
    expect(found?.slice(0, reason?.length)).toBe(reason);
  });
});
