/**
 * The next step towards a certificate, from what is on the disk and at the API server. Pure. Every step can be repeated: the key is
 * on the disk before it is used, and the name of the request is made of it.
 */
import type { X509Certificate } from 'node:crypto';

export interface HeldCertificate {
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256 of the public key, in hex. */
  readonly keySha256: string;
  /** The certificate itself, to find who issued it. */
  readonly certificate?: X509Certificate;
}

export type RequestState =
  | { readonly state: 'NotRead' | 'Missing' | 'Pending' | 'Approved' }
  | { readonly state: 'Denied'; readonly because: string }
  | { readonly state: 'Issued'; readonly problem?: string };

export interface CertificateInput {
  /** The certificate in use. */
  readonly held?: HeldCertificate;
  /** SHA-256 of a key that has no certificate yet. */
  readonly pendingKey?: string;
  readonly request: RequestState;
  /** Whether another authority is to have issued the certificate in use. */
  readonly isSuperseded?: boolean;
  readonly now: Date;
}

export type CertificateStep =
  /** Nothing before this time. */
  | { readonly type: 'Wait'; readonly until: Date; readonly because: string }
  | { readonly type: 'CreateKey'; readonly because: string }
  | { readonly type: 'ReadRequest' | 'CreateRequest' | 'Store' }
  /** Asks again until the approver and the signer have answered. */
  | { readonly type: 'Poll' }
  /** The key gets no certificate: another one is made after a while. */
  | { readonly type: 'GiveUp'; readonly because: string }
  /** The key has its certificate: the agent ended before it could forget the key. */
  | { readonly type: 'Forget' };

/** Renewal begins in this part of the life of a certificate, spread over a fleet. Retries have until its end. */
const RENEW_FROM = 0.5;
const RENEW_TO = 0.65;

export function planCertificate(input: CertificateInput): CertificateStep {
  const { held, pendingKey, request } = input;
  if (pendingKey === undefined) return planWithoutKey(input);
  if (held?.keySha256 === pendingKey) return { type: 'Forget' };
  return planRequest(request);
}

function planRequest(request: RequestState): CertificateStep {
  switch (request.state) {
    case 'NotRead':
      return { type: 'ReadRequest' };
    case 'Missing':
      return { type: 'CreateRequest' };
    case 'Pending':
    case 'Approved':
      return { type: 'Poll' };
    case 'Denied':
      return { type: 'GiveUp', because: `the request was denied: ${request.because}` };
    case 'Issued':
      return request.problem === undefined ? { type: 'Store' } : { type: 'GiveUp', because: request.problem };
    default:
      return request satisfies never;
  }
}

function planWithoutKey({ held, isSuperseded, now }: CertificateInput): CertificateStep {
  if (!held) return { type: 'CreateKey', because: 'there is no certificate' };
  if (isSuperseded) return { type: 'CreateKey', because: 'the authorities were rotated' };
  const until = renewalTime(held);
  const ends = held.notAfter.toISOString();
  if (now < until) return { type: 'Wait', until, because: `the certificate is valid until ${ends}` };
  return { type: 'CreateKey', because: `the certificate ends at ${ends}` };
}

/** Returns the time of the renewal. It is the same after each restart, because it is made of the key. */
export function renewalTime({ notBefore, notAfter, keySha256 }: HeldCertificate): Date {
  const spread = Number.parseInt(keySha256.slice(0, 8), 16) / 0xffff_ffff;
  const part = RENEW_FROM + spread * (RENEW_TO - RENEW_FROM);
  return new Date(notBefore.getTime() + part * (notAfter.getTime() - notBefore.getTime()));
}
