import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SignatureError } from '../../../../../src/sync/git/signatures/signature-error.ts';
import {
  parseSshSignature,
  verifySshSignature,
} from '../../../../../src/sync/git/signatures/ssh/signature.ts';
import { wireString } from '../../../../../src/sync/git/signatures/ssh/wire.ts';
import { createSshSigner } from '../../../../support/git-server/signer.ts';

const PAYLOAD = Buffer.from('tree t\n\nmessage\n');
const ann = createSshSigner('ann');

function signReal(namespace = 'git'): string {
  const args = ['-Y', 'sign', '-q', '-n', namespace, '-f', ann.keyFile];
  return execFileSync('ssh-keygen', args, { input: PAYLOAD, encoding: 'utf8', stdio: 'pipe' });
}

function verified(armored: string, payload = PAYLOAD): string {
  verifySshSignature(parseSshSignature(armored), payload);
  return 'verified';
}

function armor(blob: Buffer): string {
  return `-----BEGIN SSH SIGNATURE-----\n${blob.toString('base64')}\n-----END SSH SIGNATURE-----\n`;
}

interface Parts {
  readonly key: Buffer;
  readonly hash?: string;
  readonly version?: number;
  readonly signature: (message: Buffer) => readonly Buffer[];
}

/** Builds a signature as PROTOCOL.sshsig describes it. */
function build({ key, hash = 'sha512', version = 1, signature }: Parts): string {
  const digest = createHash(hash).update(PAYLOAD).digest();
  const message = Buffer.concat([
    Buffer.from('SSHSIG'),
    ...['git', '', hash].map(wireString),
    wireString(digest),
  ]);
  const head = Buffer.from('SSHSIG\0\0\0\0');
  head[9] = version;
  const parts = [key, 'git', '', hash, Buffer.concat(signature(message))].map(wireString);
  return armor(Buffer.concat([head, ...parts]));
}

const ed = generateKeyPairSync('ed25519');
const X = Buffer.from(ed.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
const ED_KEY = Buffer.concat([wireString('ssh-ed25519'), wireString(X)]);
const SK = 'sk-ssh-ed25519@openssh.com';
const SK_KEY = Buffer.concat([wireString(SK), wireString(X), wireString('ssh:')]);

function sha256(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** What a security key answers: it signs digests, flags and a counter. */
function bySecurityKey(flags: number): (message: Buffer) => Buffer[] {
  const rest = Buffer.from([flags, 0, 0, 0, 7]);
  return (message) => {
    const signed = Buffer.concat([sha256('ssh:'), rest, sha256(message)]);
    return [wireString(SK), wireString(sign(null, signed, ed.privateKey)), rest];
  };
}

function rsa(bits: number, algorithm: string, hash: string): Parts {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const modulus = Buffer.concat([Buffer.alloc(1), Buffer.from(n, 'base64url')]);
  const key = Buffer.concat([
    wireString('ssh-rsa'),
    wireString(Buffer.from(e, 'base64url')),
    wireString(modulus),
  ]);
  return {
    key,
    signature: (message) => [wireString(algorithm), wireString(sign(hash, message, privateKey))],
  };
}

function byEd(privateKey: KeyObject, algorithm = 'ssh-ed25519'): (message: Buffer) => Buffer[] {
  return (message) => [wireString(algorithm), wireString(sign(null, message, privateKey))];
}

describe('signatures of SSH', () => {
  it('S19 agrees with ssh-keygen about a signature, and about changed content', () => {
    const armored = signReal();
    expect(verified(armored)).toBe('verified');
    expect(() => verified(armored, Buffer.from('tree t\n\nMessage\n'))).toThrow(
      'its signature is over other content: the commit was changed after it was signed',
    );
    expect(() => verified(signReal('file'))).toThrow('its signature is for "file", expected one for "git"');
  });

  it.each<[name: string, parts: Parts]>([
    ['SHA-256', { key: ED_KEY, hash: 'sha256', signature: byEd(ed.privateKey) }],
    ['RSA with SHA-256', rsa(2048, 'rsa-sha2-256', 'sha256')],
    ['a security key that was touched', { key: SK_KEY, signature: bySecurityKey(1) }],
  ])('S19 accepts a signature with %s', (_, parts) => {
    expect(verified(build(parts))).toBe('verified');
  });

  it.each<[name: string, parts: Parts, message: string]>([
    [
      'RSA with SHA-1',
      rsa(2048, 'ssh-rsa', 'sha1'),
      'its RSA signature uses SHA-1: sign with OpenSSH 8.2 or later',
    ],
    [
      'a short RSA key',
      rsa(1024, 'rsa-sha2-512', 'sha512'),
      'its RSA key has 1024 bits, expected 2048 to 16384',
    ],
    [
      'a security key that was not touched',
      { key: SK_KEY, signature: bySecurityKey(0) },
      'its security key was not touched',
    ],
    [
      'MD5',
      { key: ED_KEY, hash: 'md5', signature: byEd(ed.privateKey) },
      'its signature is not over SHA-256 or SHA-512',
    ],
    [
      'another version',
      { key: ED_KEY, version: 2, signature: byEd(ed.privateKey) },
      'its signature is not SSHSIG version 1',
    ],
    [
      'the algorithm of another key',
      { key: ED_KEY, signature: byEd(ed.privateKey, 'rsa-sha2-512') },
      'the algorithm of its signature is not that of its key',
    ],
    [
      'another key than it names',
      { key: ED_KEY, signature: byEd(generateKeyPairSync('ed25519').privateKey) },
      'its signature is over other content',
    ],
    [
      'bytes after its end',
      { key: ED_KEY, signature: (message) => [...byEd(ed.privateKey)(message), Buffer.alloc(1)] },
      'it continues after its end',
    ],
    [
      'a DSA key',
      { key: wireString('ssh-dss'), signature: byEd(ed.privateKey) },
      'keys of type "ssh-dss" are not accepted: use ssh-ed25519',
    ],
  ])('S19 refuses a signature with %s', (_, parts, message) => {
    expect(() => verified(build(parts))).toThrow(message);
  });

  it('S19 refuses what is not an armored signature', () => {
    for (const text of ['', '-----BEGIN SSH SIGNATURE-----\n', `${signReal()}more`, 'x'.repeat(100_000)]) {
      expect(() => verified(text)).toThrow('its signature is not an armored signature of SSH');
    }
  });

  it('S19 refuses any changed byte of a signature, and never fails in another way', () => {
    const genuine = Buffer.from(signReal().split('\n').slice(1, -2).join(''), 'base64');
    fc.assert(
      fc.property(fc.nat(genuine.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(genuine);
        changed[at] = (changed[at] ?? 0) ^ change;
        expect(() => verified(armor(changed))).toThrow(SignatureError);
      }),
    );
  });
});
