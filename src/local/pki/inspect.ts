/** Reads certificates and decides whether they have to be renewed. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { rememberByText } from '../../os/memo.ts';
import { BACKDATED_MS, type CertificatePair, type CertificateRequest } from './certificate.ts';
import { renewBeforeMs } from './lifetime.ts';

/** Certificates have whole seconds. */
const ROUNDING_MS = 2000;

/** Those of a hundred control planes, which are looked at every few seconds. */
const MAX_REMEMBERED = 2048;

/** Parses a certificate, which nothing can change. */
export const parseCertificate = rememberByText(MAX_REMEMBERED, (pem) => new X509Certificate(pem));

/** Tells whether a certificate and the key that follows it match. */
const isPair = rememberByText(MAX_REMEMBERED, (text) => {
  const [certPem = '', keyPem = ''] = [findPemBlock(text, 'CERTIFICATE'), findPemBlock(text, 'PRIVATE KEY')];
  return parseCertificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
});

/** Tells whether the key of the second certificate signed the first. */
const isSigned = rememberByText(MAX_REMEMBERED, (text) => {
  const [certificate = '', authority = ''] = text.split(BETWEEN);
  return parseCertificate(certificate).verify(parseCertificate(authority).publicKey);
});
const BETWEEN = '\n---\n';

/** Certificate and key of a PEM file; undefined if one is missing or invalid, or if they do not match. */
export function parsePair(text: string | undefined): CertificatePair | undefined {
  const certPem = findPemBlock(text, 'CERTIFICATE');
  const keyPem = findPemBlock(text, 'PRIVATE KEY');
  if (certPem === undefined || keyPem === undefined) return undefined;
  try {
    return isPair(certPem + keyPem) ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function findPemBlock(text: string | undefined, label: string): string | undefined {
  return new RegExp(`-----BEGIN ${label}-----\n[^-]+-----END ${label}-----\n`).exec(text ?? '')?.[0];
}

/** Why this certificate has to be renewed; undefined if it is valid. A certificate that was just issued for the request never has to be. */
export function renewalReason(
  pair: CertificatePair,
  authority: CertificatePair,
  request: CertificateRequest,
): string | undefined {
  const certificate = parseCertificate(pair.certPem);
  return (
    timeReason(certificate, request) ??
    signerReason(pair, authority) ??
    namesReason(certificate, request) ??
    subjectReason(certificate, request)
  );
}

function timeReason(certificate: X509Certificate, request: CertificateRequest): string | undefined {
  const { now, seconds } = request;
  const { validFromDate: from, validToDate: ends } = certificate;
  if (+ends <= +now) return `it expired on ${ends.toISOString()}`;
  // It was made while the clock of the machine was ahead.
  if (+from > +now) return `it is not valid before ${from.toISOString()}`;
  if (+ends - +now < renewBeforeMs(request)) return `it expires on ${ends.toISOString()}`;
  const isTooLong = +ends - +from - BACKDATED_MS > seconds * 1000 + ROUNDING_MS;
  return isTooLong ? `it is valid for longer than ${seconds} s` : undefined;
}

function signerReason({ certPem }: CertificatePair, authority: CertificatePair): string | undefined {
  return isSigned([certPem, authority.certPem].join(BETWEEN)) ? undefined : 'it is signed by another CA';
}

function namesReason(certificate: X509Certificate, { names = [] }: CertificateRequest): string | undefined {
  const missing = names.filter((name) => !coversName(certificate, name));
  return missing.length > 0 ? `names missing: ${missing.join(', ')}` : undefined;
}

function subjectReason(certificate: X509Certificate, { subject }: CertificateRequest): string | undefined {
  const { commonName, organizations = [] } = subject;
  const expected = [...organizations.map((name) => `O=${name}`), `CN=${commonName}`].join('\n');
  return certificate.subject === expected ? undefined : `it is not of ${commonName}`;
}

export function readExpiry(certPem: string): Date {
  return parseCertificate(certPem).validToDate;
}

function coversName(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}
