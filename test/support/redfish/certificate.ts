/** The self-signed certificate of a BMC, with its fingerprint as a Machine names it. */
import { createHash, X509Certificate } from 'node:crypto';
import { type CertificatePair, createAuthority } from '../../../src/local/pki/certificate.ts';
import { NOW } from '../virtual-clock.ts';

export interface BmcCertificate extends CertificatePair {
  readonly fingerprint: string;
}

export function bmcCertificate(name = 'bmc'): BmcCertificate {
  const pair = createAuthority(name, NOW, 3650);
  const digest = createHash('sha256').update(new X509Certificate(pair.certPem).raw).digest('base64');
  return { ...pair, fingerprint: `SHA256:${digest.replace(/=+$/, '')}` };
}
