import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CertificateRequest,
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
} from '../../../src/local/pki/certificate.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T12:00:00.000Z');
const authority = createAuthority('test authority', NOW, 3650);
const ca = new X509Certificate(authority.certPem);

const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

describe('an authority', () => {
  it('is a self-signed CA', () => {
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('CN=test authority');
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.checkPrivateKey(createPrivateKey(authority.keyPem))).toBe(true);
  });

  it('is valid for the given days, and from an hour ago for slow clocks', () => {
    expect(ca.validFromDate).toEqual(new Date('2030-01-01T11:00:00.000Z'));
    expect(ca.validToDate).toEqual(new Date('2039-12-30T12:00:00.000Z'));
  });

  it('can expire after 2049, when the date format changes', () => {
    const old = new X509Certificate(createAuthority('old', NOW, 36_500).certPem);
    expect(old.validToDate).toEqual(new Date('2129-12-08T12:00:00.000Z'));
  });
});

describe('a certificate', () => {
  it('contains user and groups as Kubernetes reads them', () => {
    const { subject } = parse({
      subject: { commonName: 'kubenode:agent:m-1', organizations: ['a:b', 'system:masters'] },
    });
    expect(subject.split('\n')).toEqual(['O=a:b', 'O=system:masters', 'CN=kubenode:agent:m-1']);
  });

  it('is signed by its authority', () => {
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
  ] as const)('for use as %s allows only that use', (usage, purposes) => {
    const certificate = parse({ usage });
    expect(certificate.keyUsage).toEqual(purposes);
    expect(certificate.ca).toBe(false);
  });

  it('covers its names and addresses, with IPv6 in any notation', () => {
    const certificate = parse({ usage: 'server', names: ['localhost', '127.0.0.1', '::1', 'fd00:0:0::1:2'] });
    expect(certificate.checkHost('localhost')).toBe('localhost');
    const addresses = ['127.0.0.1', '::1', 'fd00::1:2'];
    expect(addresses.map((address) => certificate.checkIP(address))).toEqual(addresses);
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  });

  it('has a unique serial number', () => {
    const numbers = Array.from({ length: 50 }, () => parse({}).serialNumber);
    expect(new Set(numbers).size).toBe(50);
  });

  it('passes the strict verification of OpenSSL with all fields set', () => {
    const folder = tempFolder('pki');
    const names = ['kubernetes.default.svc', '10.96.0.1', '::1'];
    const issued = issueCertificate(
      authority,
      request({ usage: 'peer', names, subject: { commonName: 'ü', organizations: ['o'] } }),
    );
    writeFileSync(join(folder, 'ca.crt'), authority.certPem);
    writeFileSync(join(folder, 'peer.crt'), issued.certPem);
    const at = String(Math.floor(+NOW / 1000));
    const args = ['verify', '-x509_strict', '-attime', at, '-CAfile', 'ca.crt', 'peer.crt'];
    expect(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' })).toBe('peer.crt: OK\n');
  });
});

describe('a ServiceAccount key', () => {
  it('has the only format from which the API server also reads the public key', () => {
    const pem = createServiceAccountKey();
    expect(pem).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
    expect(createPublicKey(pem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });
});

function parse(change: Partial<CertificateRequest>): X509Certificate {
  return new X509Certificate(issueCertificate(authority, request(change)).certPem);
}

function request(change: Partial<CertificateRequest>): CertificateRequest {
  return { subject: { commonName: 'somebody' }, usage: 'client', now: NOW, seconds: 30 * 86_400, ...change };
}
