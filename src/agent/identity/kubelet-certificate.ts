/** Reads the name of the Node in the certificate of a kubelet. Pure. */
import { X509Certificate } from 'node:crypto';
import { NODE_USER_PREFIX } from '../../api/names.ts';

/** Returns the name; undefined: the text is not the certificate of a kubelet. */
export function nodeOfCertificate(pem: string): string | undefined {
  const names = commonNamesOf(pem);
  const [name] = names;
  if (names.length !== 1 || !name?.startsWith(NODE_USER_PREFIX)) return undefined;
  return name.slice(NODE_USER_PREFIX.length) || undefined;
}

function commonNamesOf(pem: string): readonly string[] {
  try {
    const lines = new X509Certificate(pem).subject.split('\n');
    return lines.flatMap((line) => (line.startsWith('CN=') ? [line.slice('CN='.length)] : []));
  } catch {
    return [];
  }
}
