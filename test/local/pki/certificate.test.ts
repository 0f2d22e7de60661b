import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createAuthority,
  createServiceAccountKey,
  issue,
  type Request,
} from '../../../src/local/pki/certificate.ts';
import * as der from '../../../src/local/pki/der.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T12:00:00.000Z');
const authority = createAuthority('test authority', NOW, 3650);
const ca = new X509Certificate(authority.certPem);

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

describe('an authority', () => {
  it('is a CA that signed itself', () => {
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('CN=test authority');
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.checkPrivateKey(createPrivateKey(authority.keyPem))).toBe(true);
  });

  it('lasts as long as it is told, and began an hour ago for clocks that are late', () => {
    expect(ca.validFromDate).toEqual(new Date('2030-01-01T11:00:00.000Z'));
    expect(ca.validToDate).toEqual(new Date('2039-12-30T12:00:00.000Z'));
  });

  it('may end after 2049, where the form of dates changes', () => {
    const old = new X509Certificate(createAuthority('old', NOW, 36_500).certPem);
    expect(old.validToDate).toEqual(new Date('2129-12-08T12:00:00.000Z'));
  });
});

describe('a certificate', () => {
  it('names the user and all groups, which is how Kubernetes reads it', () => {
    const { subject } = parse({
      subject: { commonName: 'kubenode:agent:m-1', organizations: ['a:b', 'system:masters'] },
    });
    expect(subject.split('\n')).toEqual(['O=a:b', 'O=system:masters', 'CN=kubenode:agent:m-1']);
  });

  it('was signed by its authority, and by no other', () => {
    const certificate = parse({});
    expect(certificate.checkIssued(ca)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(
      certificate.verify(new X509Certificate(createAuthority('test authority', NOW, 1).certPem).publicKey),
    ).toBe(false);
  });

  it.each([
    ['server', [SERVER_AUTH]],
    ['client', [CLIENT_AUTH]],
    ['peer', [SERVER_AUTH, CLIENT_AUTH]],
  ] as const)('of a %s is good for that and nothing more', (usage, purposes) => {
    const certificate = parse({ usage });
    expect(certificate.keyUsage).toEqual(purposes);
    expect(certificate.ca).toBe(false);
  });

  it('answers by its names and addresses, IPv6 in any spelling', () => {
    const certificate = parse({ usage: 'server', names: ['localhost', '127.0.0.1', '::1', 'fd00:0:0::1:2'] });
    expect(certificate.checkHost('localhost')).toBe('localhost');
    const addresses = ['127.0.0.1', '::1', 'fd00::1:2'];
    expect(addresses.map((address) => certificate.checkIP(address))).toEqual(addresses);
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  });

  it('has a serial number of its own', () => {
    const numbers = Array.from({ length: 50 }, () => parse({}).serialNumber);
    expect(new Set(numbers).size).toBe(50);
  });

  it('passes the strict check of OpenSSL, with everything in it', () => {
    const folder = tempFolder('pki');
    const names = ['kubernetes.default.svc', '10.96.0.1', '::1'];
    const made = issue(
      authority,
      request({ usage: 'peer', names, subject: { commonName: 'ü', organizations: ['o'] } }),
    );
    writeFileSync(join(folder, 'ca.crt'), authority.certPem);
    writeFileSync(join(folder, 'peer.crt'), made.certPem);
    const at = String(Math.floor(+NOW / 1000));
    const args = ['verify', '-x509_strict', '-attime', at, '-CAfile', 'ca.crt', 'peer.crt'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toBe('peer.crt: OK\n');
  });
});

describe('a key of ServiceAccounts', () => {
  it('is in the one form from which the API server reads the public half too', () => {
    const pem = createServiceAccountKey();
    expect(pem).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
    expect(createPublicKey(pem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });
});

describe('DER', () => {
  it.each([
    ['zero', der.integer(Buffer.from([0])), '020100'],
    [
      'a first bit that is set, so that it does not turn negative',
      der.integer(Buffer.from([0x80])),
      '02020080',
    ],
    ['leading zeros, which are not minimal', der.integer(Buffer.from([0, 0, 1])), '020101'],
    ['an arc above 127', der.objectId('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['a length above 127', der.octets(Buffer.alloc(200)).subarray(0, 3), '0481c8'],
    ['a length above 255', der.octets(Buffer.alloc(300)).subarray(0, 4), '0482012c'],
    ['a date before 2050', der.time(new Date('2049-12-31T23:59:59Z')), `170d${hex('491231235959Z')}`],
    ['a date from 2050 on', der.time(new Date('2050-01-01T00:00:00Z')), `180f${hex('20500101000000Z')}`],
  ])('writes %s', (_, bytes, expected) => {
    expect(bytes.toString('hex')).toBe(expected);
  });

  it('writes integers that read back as what they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
        const [tag, length, ...content] = der.integer(bytes);
        expect(tag).toBe(2);
        expect(content).toHaveLength(length ?? -1);
        expect(valueOf(content)).toBe(valueOf([...bytes]));
        expect((content[0] ?? 0) & 0x80).toBe(0);
      }),
    );
  });
});

function parse(change: Partial<Request>): X509Certificate {
  return new X509Certificate(issue(authority, request(change)).certPem);
}

function request(change: Partial<Request>): Request {
  return { subject: { commonName: 'somebody' }, usage: 'client', now: NOW, days: 30, ...change };
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

function valueOf(bytes: readonly number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
