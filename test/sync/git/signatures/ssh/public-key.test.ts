import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readSshKey, sshFingerprint } from '../../../../../src/sync/git/signatures/ssh/public-key.ts';
import { wireString } from '../../../../../src/sync/git/signatures/ssh/wire.ts';
import { createSshSigner } from '../../../../support/git-server/signer.ts';

function blobOf(entry: string): Buffer {
  return Buffer.from(entry.split(' ')[2] ?? '', 'base64');
}

describe('public keys of SSH', () => {
  it('S19 are named like ssh-keygen does', () => {
    const { entry, keyFile } = createSshSigner('ann');
    const listed = execFileSync('ssh-keygen', ['-l', '-f', keyFile], { encoding: 'utf8' });
    expect(listed).toContain(sshFingerprint(blobOf(entry)));
  });

  it.each([
    ['rsa -b 2048', 'ssh-rsa', 256],
    ['ecdsa -b 521', 'ecdsa-sha2-nistp521', 66],
    ['ed25519', 'ssh-ed25519', 32],
  ])('S19 are read with their sizes: %s', (made, type, size) => {
    expect(readSshKey(blobOf(createSshSigner('ann', made).entry))).toMatchObject({ type, size });
  });

  it.each<[name: string, parts: (Buffer | string)[], message: string]>([
    ['nothing', [], 'it is truncated'],
    ['an RSA key of no bits', ['ssh-rsa', 'e', ''], 'its RSA key has 0 bits, expected 2048 to 16384'],
    ['a huge RSA key', ['ssh-rsa', 'e', Buffer.alloc(4096, 255)], 'its RSA key has 32768 bits'],
    [
      'a compressed point',
      ['ecdsa-sha2-nistp256', 'nistp256', point(2, 32)],
      'its key is not an uncompressed point of nistp256',
    ],
    [
      'another curve than its type',
      ['ecdsa-sha2-nistp256', 'nistp384', point(4, 64)],
      'its key is not an uncompressed point of nistp256',
    ],
    ['a point beside the curve', ['ecdsa-sha2-nistp256', 'nistp256', point(4, 64)], 'its key is not valid'],
    ['a short key', ['ssh-ed25519', 'short'], 'its key is not valid'],
    ['bytes after its end', ['ssh-ed25519', Buffer.alloc(32, 1), 'more'], 'it continues after its end'],
    [
      'a certificate',
      ['ssh-ed25519-cert-v01@openssh.com', 'x'],
      'keys of type "ssh-ed25519-cert-v01@openssh.com"',
    ],
    ['an inherited name', ['constructor'], 'keys of type "constructor" are not accepted'],
  ])('S19 are refused where they are %s', (_, parts, message) => {
    expect(() => readSshKey(Buffer.concat(parts.map(wireString)))).toThrow(message);
  });
});

function point(first: number, length: number): Buffer {
  return Buffer.from([first, ...Array<number>(length).fill(1)]);
}
