/** Reads certificates and decides whether they have to be renewed. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { CertificatePair, CertificateRequest } from './certificate.ts';

const DAY_MS = 86_400_000;
/** Certificates are valid for a year and are renewed in their last month. */
const RENEW_DAYS = 30;

/** Certificate and key of a PEM file; undefined if one is missing or invalid, or if they do not match. */
export function parsePair(text: string | undefined): CertificatePair | undefined {
  const certPem = findPemBlock(text, 'CERTIFICATE');
  const keyPem = findPemBlock(text, 'PRIVATE KEY');
  if (certPem === undefined || keyPem === undefined) return undefined;
  try {
    const matches = new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
    return matches ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function findPemBlock(text: string | undefined, label: string): string | undefined {
  return new RegExp(`-----BEGIN ${label}-----\n[^-]+-----END ${label}-----\n`).exec(text ?? '')?.[0];
}

/** Why this certificate has to be renewed; undefined if it is valid. */
export function renewalReason(
  pair: CertificatePair,
  authority: CertificatePair,
  { now, names = [], days, renewAtPercent }: CertificateRequest,
): string | undefined {
  const certificate = new X509Certificate(pair.certPem);
  const ends = readExpiry(pair.certPem);
  if (+ends <= +now) return `it expired on ${ends.toISOString()}`;
  const renewDays = renewAtPercent === undefined ? RENEW_DAYS : (days * (100 - renewAtPercent)) / 100;
  if (+ends - +now < renewDays * DAY_MS) return `it expires on ${ends.toISOString()}`;
  if (!certificate.verify(new X509Certificate(authority.certPem).publicKey)) {
    return 'it is signed by another CA';
  }
  const missing = names.filter((name) => !coversName(certificate, name));
  return missing.length > 0 ? `names missing: ${missing.join(', ')}` : undefined;
}

export function readExpiry(certPem: string): Date {
  return new X509Certificate(certPem).validToDate;
}

function coversName(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}
