/** Signs certificate requests with any validity: a signer of Kubernetes under a virtual clock. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { CertificatePair } from '../../src/local/pki/certificate.ts';
import * as der from '../../src/os/x509/der.ts';
import { readElement, readElements } from '../../src/os/x509/der-reader.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Without an authority, the certificate names its own subject as issuer. */
export function signRequest(
  pem: string,
  notBefore: Date,
  notAfter: Date,
  authority?: CertificatePair,
): string {
  const bytes = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
  const [info] = readElements(readElement(bytes, 0x30).content);
  const [, subject, publicKey] = readElements(info?.content ?? Buffer.alloc(0));
  if (!subject || !publicKey) throw new Error('not a certificate request');
  const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'));
  const issuer = authority ? subjectOf(authority.certPem) : subject.bytes;
  const tbs = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2])), 'constructed'),
    der.integer(Buffer.from([1])),
    algorithm,
    issuer,
    der.sequence(der.timestamp(notBefore), der.timestamp(notAfter)),
    subject.bytes,
    publicKey.bytes,
  );
  const certificate = der.sequence(
    tbs,
    algorithm,
    der.bits(sign('sha256', tbs, authority?.keyPem ?? privateKey)),
  );
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
}

/** Returns the name of an authority, as it is in a certificate of it. */
function subjectOf(pem: string): Buffer {
  const bytes = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
  const [tbs] = readElements(readElement(bytes, 0x30).content);
  // Version, serial, algorithm, issuer, validity, subject.
  const subject = readElements(tbs?.content ?? Buffer.alloc(0))[5];
  if (!subject) throw new Error('not a certificate');
  return Buffer.from(subject.bytes);
}
