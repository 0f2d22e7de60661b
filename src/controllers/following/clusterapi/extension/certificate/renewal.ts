/** Decides whether the stored certificate of the update extension is served, or which authority makes a new one. */
import { NAMESPACE, UPDATE_EXTENSION } from '../../../../../api/names.ts';
import type { CertificatePair, CertificateRequest } from '../../../../../local/pki/certificate.ts';
import { parsePair, readExpiry, renewalReason } from '../../../../../local/pki/inspect.ts';

/** The texts of the Secret. Each may be missing, or written by somebody else. */
export interface StoredCertificate {
  /** The authorities that Cluster API trusts, the one that signs first. */
  readonly authorities?: string | undefined;
  readonly authorityKey?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export type ServingDecision =
  | { readonly type: 'Serve'; readonly pair: CertificatePair }
  | { readonly type: 'Issue'; readonly authority: CertificatePair; readonly because: string }
  /** `earlier` stays trusted, because other replicas serve its certificate until they read the new one. */
  | { readonly type: 'Replace'; readonly earlier?: string; readonly because: string };

/** A quarter of a year; it is renewed in its last month, so that weeks without a renewal change nothing. */
const SECONDS = 90 * 86_400;

/** Cluster API calls a Service by this name. */
export function extensionRequest(now: Date): CertificateRequest {
  const name = `${UPDATE_EXTENSION}.${NAMESPACE}.svc`;
  return { subject: { commonName: UPDATE_EXTENSION }, usage: 'server', names: [name], now, seconds: SECONDS };
}

export function planServingCertificate(stored: StoredCertificate, now: Date): ServingDecision {
  const { authorities, authorityKey, certificate, key } = stored;
  const authority = parsePair(joined(authorities, authorityKey));
  if (!authority) return { type: 'Replace', because: 'the Secret has no authority with its key' };
  const lifeMs = +readExpiry(authority.certPem) - +now;
  if (lifeMs <= SECONDS * 1000) {
    const because = 'the authority ends before a new certificate would';
    return lifeMs <= 0
      ? { type: 'Replace', because }
      : { type: 'Replace', earlier: authority.certPem, because };
  }
  const pair = parsePair(joined(certificate, key));
  if (!pair) return { type: 'Issue', authority, because: 'the Secret has no certificate with its key' };
  const because = renewalReason(pair, authority, extensionRequest(now));
  return because === undefined ? { type: 'Serve', pair } : { type: 'Issue', authority, because };
}

function joined(certificate = '', key = ''): string {
  return `${certificate}\n${key}`;
}
