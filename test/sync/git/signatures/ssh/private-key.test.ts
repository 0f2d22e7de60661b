import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSshPrivateKey } from '../../../../../src/sync/git/signatures/ssh/private-key.ts';
import { sshFingerprint } from '../../../../../src/sync/git/signatures/ssh/public-key.ts';
import { wireString } from '../../../../../src/sync/git/signatures/ssh/wire.ts';
import { createSshSigner } from '../../../../support/git-server/signer.ts';
import { tempFolder } from '../../../../support/temp.ts';

const sync = createSshSigner('sync');
const text = readFileSync(sync.keyFile, 'utf8');
const lines = text.trim().split('\n');

/** Changes one byte of the decoded key. */
function changed(at: number): string {
  const bytes = Buffer.from(lines.slice(1, -1).join(''), 'base64');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return [lines[0], bytes.toString('base64'), lines.at(-1)].join('\n');
}

/** Returns a key whose numbers have 31 bytes. */
function shortKey(): string {
  const one = Buffer.from([0, 0, 0, 1]);
  const numbers = [wireString(Buffer.alloc(31)), wireString(Buffer.alloc(62))];
  const secret = Buffer.concat([one, one, wireString('ssh-ed25519'), ...numbers]);
  const parts = ['none', 'none', ''].map(wireString);
  const head = Buffer.from('openssh-key-v1\0');
  const all = Buffer.concat([head, ...parts, one, wireString('public'), wireString(secret)]);
  return [lines[0], all.toString('base64'), lines.at(-1)].join('\n');
}

function keyOf(...args: string[]): string {
  const file = join(tempFolder('key'), 'key');
  execFileSync('ssh-keygen', ['-q', '-C', 'x', '-f', file, ...args]);
  return readFileSync(file, 'utf8');
}

describe('readSshPrivateKey', () => {
  it('reads the key that ssh-keygen has made', () => {
    const printed = execFileSync('ssh-keygen', ['-l', '-f', `${sync.keyFile}.pub`], { encoding: 'utf8' });
    expect(printed).toContain(sshFingerprint(readSshPrivateKey(text).blob));
    expect(readSshPrivateKey(`${lines.join('\r\n')}\r\n`).key.asymmetricKeyType).toBe('ed25519');
  });

  it.each([
    ['nothing', '', 'expected -----BEGIN OPENSSH PRIVATE KEY-----'],
    [
      'a public key',
      readFileSync(`${sync.keyFile}.pub`, 'utf8'),
      'expected -----BEGIN OPENSSH PRIVATE KEY-----',
    ],
    ['another magic', changed(0), 'it is not in the form of OpenSSH'],
    [
      'another type',
      keyOf('-t', 'ecdsa', '-N', ''),
      'its type is "ecdsa-sha2-nistp256", expected ssh-ed25519',
    ],
    ['a passphrase', keyOf('-t', 'ed25519', '-N', 'secret'), 'it has a passphrase'],
    ['two check numbers that differ', changed(98), 'it is damaged'],
    ['no key', changed(38), 'expected one key'],
    ['halves that are too short', shortKey(), 'it is damaged'],
    [
      'a truncated key',
      [lines[0], lines.slice(1, -1).join('').slice(0, 80), lines.at(-1)].join('\n'),
      'it is truncated',
    ],
  ])('refuses %s, with the command that makes a key', (_, key, because) => {
    expect(() => readSshPrivateKey(key)).toThrow(
      `the signing key is not usable: ${because}. Make one with: ssh-keygen -t ed25519 -N '' -f signing-key`,
    );
  });
});
