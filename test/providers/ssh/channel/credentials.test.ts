import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isEncrypted, parsePrivateKey } from '../../../../src/providers/ssh/channel/credentials.ts';
import { tempFolder } from '../../../support/temp.ts';
import { makeUserKey, sshUnavailableReason } from '../sshd.ts';

const PASSPHRASE = 'a s3cret';
const unavailable = sshUnavailableReason();

describe.skipIf(unavailable !== undefined)(
  `a private key${unavailable ? ` (skipped: ${unavailable})` : ''}`,
  () => {
    const folder = tempFolder('keys');

    it('is read without a passphrase, and with the right one', () => {
      const plain = makeUserKey(folder, 'plain').privateKey;
      const encrypted = makeUserKey(folder, 'encrypted', PASSPHRASE).privateKey;
      expect([isEncrypted(plain), isEncrypted(encrypted)]).toEqual([false, true]);
      expect(parsePrivateKey(plain, undefined, 'key').isPrivateKey()).toBe(true);
      expect(parsePrivateKey(encrypted, PASSPHRASE, 'key').isPrivateKey()).toBe(true);
    });

    it('MAC-12 names what is missing, and shows neither the key nor the passphrase', () => {
      const { privateKey, publicKey } = makeUserKey(folder, 'other', PASSPHRASE);
      const errors = [
        errorOf(() => parsePrivateKey(privateKey, undefined, 'key')),
        errorOf(() => parsePrivateKey(privateKey, `not ${PASSPHRASE}`, 'key')),
        errorOf(() => parsePrivateKey('s3cret, not a key', undefined, 'key')),
        errorOf(() => parsePrivateKey(publicKey, undefined, 'key')),
      ];
      expect(errors).toMatchObject([
        { code: 'InvalidKey', message: 'the private key has a passphrase', where: 'key' },
        { code: 'InvalidKey', message: 'the private key cannot be read with this passphrase', where: 'key' },
        { code: 'InvalidKey', message: 'the file is not a private key', where: 'key' },
        { code: 'InvalidKey', message: 'the file is not a private key', where: 'key' },
      ]);
      expect(errors.map((error) => inspect(error, { depth: 9 })).join('')).not.toContain('s3cret');
    });

    it('may be PEM, with a passphrase too', () => {
      const file = join(folder, 'pem');
      const args = ['-q', '-t', 'ecdsa', '-m', 'PEM', '-N', PASSPHRASE, '-f', file];
      execFileSync('ssh-keygen', args);
      const privateKey = readFileSync(file, 'utf8');
      expect(isEncrypted(privateKey)).toBe(true);
      expect(parsePrivateKey(privateKey, PASSPHRASE, 'key').isPrivateKey()).toBe(true);
    });
  },
);

function errorOf(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}
