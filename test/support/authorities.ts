/** Authorities, and documents of them that they have signed. */
import { sign, X509Certificate } from 'node:crypto';
import {
  type AuthoritiesDocument,
  fingerprintOf,
  formatDocument,
  type SignedAuthorities,
  signedBytes,
} from '../../src/api/authorities/document.ts';
import { type CertificatePair, createAuthority, issueCertificate } from '../../src/local/pki/certificate.ts';

const NOW = new Date('2030-01-01T00:00:00Z');

export interface TestAuthority extends CertificatePair {
  readonly sha256: string;
}

export function testAuthority(name: string): TestAuthority {
  const pair = createAuthority(name, NOW, 3650);
  return { ...pair, sha256: fingerprintOf(new X509Certificate(pair.certPem)) };
}

export function certificateBy(
  authority: CertificatePair,
  commonName = 'kubenode:agent:m-1',
): CertificatePair {
  return issueCertificate(authority, { subject: { commonName }, usage: 'client', now: NOW, seconds: 86_400 });
}

export function documentOf(
  authorities: readonly TestAuthority[],
  parts: Partial<AuthoritiesDocument> = {},
): AuthoritiesDocument {
  return {
    cluster: 'uid-1',
    order: 1,
    rotation: '2030',
    phase: 'TrustBoth',
    issuer: authorities[0]?.sha256 ?? '',
    authorities: authorities.map(({ certPem }) => certPem),
    ...parts,
  };
}

export function signedBy(
  signers: readonly TestAuthority[],
  document: AuthoritiesDocument | string,
): SignedAuthorities {
  const text = typeof document === 'string' ? document : formatDocument(document);
  const signatures = signers.map(({ sha256, keyPem }) => [
    sha256,
    sign('sha256', signedBytes(text), keyPem).toString('base64'),
  ]);
  return { document: text, signatures: JSON.stringify(Object.fromEntries(signatures)) };
}
