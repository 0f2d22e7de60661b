/** Serves the certificate of the Secret, and renews it before its end: the server asks for it again and again. */
import type { TlsMaterial } from '../../../../../kube/auth/credentials.ts';
import type { CertificatePair } from '../../../../../local/pki/certificate.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { type CertificateParts, ensureCertificate } from './execute.ts';

export interface CertificateSource {
  /** The same object while the certificate is the same. */
  current(): Promise<TlsMaterial>;
}

/** Rejects when the first certificate cannot be read or made. While the Secret cannot be read later, the last one is served, and the log has the reason once. */
export async function openCertificateSource(
  parts: CertificateParts & { readonly clock: Clock },
): Promise<CertificateSource> {
  const { clock, log } = parts;
  let tls = materialOf(await ensureCertificate(parts, clock.now()));
  let logged: string | undefined;
  return {
    async current() {
      try {
        const pair = await ensureCertificate(parts, clock.now());
        if (pair.certPem !== tls.cert) tls = materialOf(pair);
        logged = undefined;
      } catch (error) {
        const because = messageOf(error);
        if (logged !== because) log.warn('certificate of the update extension not renewed', { because });
        logged = because;
      }
      return tls;
    },
  };
}

function materialOf({ certPem: cert, keyPem: key }: CertificatePair): TlsMaterial {
  return { cert, key };
}
