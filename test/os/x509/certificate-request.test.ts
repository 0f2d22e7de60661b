import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  createCertificateRequest,
  parseCertificateRequest,
  publicKeySha256,
} from '../../../src/os/x509/certificate-request.ts';
import { hasExactName } from '../../../src/os/x509/request.ts';
import { tempFolder } from '../../support/temp.ts';

const NAME = { commonName: 'kubenode:agent:n17', organization: 'kubenode:agents' };
const SUBJECT = '/O=kubenode:agents/CN=kubenode:agent:n17';

function ecKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

function bytesOf(pem: string): Buffer {
  return Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
}

function pemOf(bytes: Buffer): string {
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** A request by another program. */
function openssl(...args: readonly string[]): { pem: string; key: KeyObject } {
  const keyFile = `${tempFolder('request')}/key.pem`;
  const all = ['req', '-new', '-nodes', '-keyout', keyFile, '-config', '/dev/null', ...args];
  const pem = execFileSync('openssl', all, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const key = createPrivateKey(execFileSync('cat', [keyFile]));
  return { pem, key };
}

const p256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

describe('createCertificateRequest', () => {
  it('writes a request that OpenSSL verifies and reads in the same way', () => {
    const pem = createCertificateRequest(NAME, ecKey());
    const shown = execFileSync('openssl', ['req', '-verify', '-noout', '-subject'], {
      input: pem,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    expect(shown).toContain('O = kubenode:agents, CN = kubenode:agent:n17');
  });

  it('is read back with its name and key', () => {
    const key = ecKey();
    const parsed = parseCertificateRequest(createCertificateRequest(NAME, key));
    expect(parsed).toMatchObject({
      commonNames: [NAME.commonName],
      organizations: [NAME.organization],
      hasAttributes: false,
      signatureValid: true,
      key: { sha256: publicKeySha256(key), type: 'ec', curve: 'prime256v1' },
    });
    expect(parsed && hasExactName(parsed, NAME)).toBe(true);
    expect(parsed && hasExactName(parsed, { ...NAME, commonName: 'kubenode:agent:n18' })).toBe(false);
  });
});

describe('parseCertificateRequest', () => {
  it('reads RSA and ECDSA requests of OpenSSL', () => {
    const rsa = openssl('-newkey', 'rsa:2048', '-subj', SUBJECT, '-sha512');
    expect(parseCertificateRequest(rsa.pem)).toMatchObject({
      signatureValid: true,
      key: { type: 'rsa', bits: 2048 },
    });
    const ec = openssl(
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:secp384r1',
      '-subj',
      SUBJECT,
      '-sha384',
    );
    const parsed = parseCertificateRequest(ec.pem);
    expect(parsed).toMatchObject({ signatureValid: true, key: { type: 'ec', curve: 'secp384r1' } });
    expect(parsed && hasExactName(parsed, NAME)).toBe(true);
    expect(parsed?.key.sha256).toBe(publicKeySha256(ec.key));
  });

  it.each([
    ['another organization', '/O=kubenode:agents/O=system:masters/CN=kubenode:agent:n17'],
    ['another order', '/CN=kubenode:agent:n17/O=kubenode:agents'],
    ['a unit', '/O=kubenode:agents/OU=x/CN=kubenode:agent:n17'],
    ['two names', '/O=kubenode:agents/CN=kubenode:agent:n18/CN=kubenode:agent:n17'],
    ['a name in one part with the organization', '/O=kubenode:agents+CN=kubenode:agent:n17'],
  ])('finds that the name is not exact with %s', (_, subject) => {
    const parsed = parseCertificateRequest(openssl(...p256, '-multivalue-rdn', '-subj', subject).pem);
    expect(parsed && hasExactName(parsed, NAME)).toBe(false);
  });

  it('tells that alternative names are asked for', () => {
    const { pem } = openssl(...p256, '-subj', SUBJECT, '-addext', 'subjectAltName=DNS:kubernetes.default');
    expect(parseCertificateRequest(pem)).toMatchObject({ hasAttributes: true, signatureValid: true });
  });

  it('tells that the signature is not of this content', () => {
    const bytes = bytesOf(createCertificateRequest(NAME, ecKey()));
    bytes.write('n18', bytes.indexOf('n17'));
    expect(parseCertificateRequest(pemOf(bytes))).toMatchObject({
      commonNames: ['kubenode:agent:n18'],
      signatureValid: false,
    });
  });

  it.each([
    ['nothing', ''],
    ['a certificate', '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'],
    ['an empty sequence', '-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n'],
    ['text', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n'],
  ])('reads %s as no request', (_, pem) => {
    expect(parseCertificateRequest(pem)).toBeUndefined();
  });

  it('reads no request with bytes behind it, or with two blocks', () => {
    const pem = createCertificateRequest(NAME, ecKey());
    const longer = Buffer.concat([bytesOf(pem), Buffer.from([0])]);
    expect(parseCertificateRequest(pemOf(longer))).toBeUndefined();
    expect(parseCertificateRequest(pem + pem)).toBeUndefined();
  });
});
