/** Reads certificates back: does this one still serve, and if not, why. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Pair, Request } from './certificate.ts';

const DAY_MS = 86_400_000;
/** A year is given at a time: the last month is for renewing without haste. */
const RENEW_DAYS = 30;

/** The two halves of a PEM file; undefined when one is missing, broken, or does not fit the other. */
export function parsePair(text: string | undefined): Pair | undefined {
  const certPem = blockOf(text, 'CERTIFICATE');
  const keyPem = blockOf(text, 'PRIVATE KEY');
  if (certPem === undefined || keyPem === undefined) return undefined;
  try {
    const fits = new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem));
    return fits ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function blockOf(text: string | undefined, label: string): string | undefined {
  return new RegExp(`-----BEGIN ${label}-----\n[^-]+-----END ${label}-----\n`).exec(text ?? '')?.[0];
}

/** Why this certificate has to be made again; undefined when it serves. */
export function certificateProblem(
  pair: Pair,
  authority: Pair,
  { now, names = [] }: Request,
): string | undefined {
  const certificate = new X509Certificate(pair.certPem);
  const ends = expiryOf(pair.certPem);
  if (+ends <= +now) return `it expired on ${ends.toISOString()}`;
  if (+ends - +now < RENEW_DAYS * DAY_MS) return `it expires on ${ends.toISOString()}`;
  if (!certificate.verify(new X509Certificate(authority.certPem).publicKey)) return 'another CA signed it';
  const missing = names.filter((name) => !answersBy(certificate, name));
  return missing.length > 0 ? `it lacks ${missing.join(', ')}` : undefined;
}

export function expiryOf(certPem: string): Date {
  return new X509Certificate(certPem).validToDate;
}

function answersBy(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}
