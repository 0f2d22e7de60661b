/** Reads the name of the Node in the certificate of a kubelet. Pure. */
import { X509Certificate } from 'node:crypto';
import { NODE_USER_PREFIX } from '../../api/names.ts';

/** Returns the name; undefined: the text is not the certificate of a kubelet. That it is valid is the API server's to judge. */
export function nodeOfCertificate(pem: string): string | undefined {
  const prefix = `CN=${NODE_USER_PREFIX}`;
  const name = subjectOf(pem).find((line) => line.startsWith(prefix));
  return name?.slice(prefix.length) || undefined;
}

function subjectOf(pem: string): readonly string[] {
  try {
    return new X509Certificate(pem).subject.split('\n');
  } catch {
    return [];
  }
}
