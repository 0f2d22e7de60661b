/** Finds the ID of the key that signs tokens of ServiceAccounts, as the header of a token has it. */
import { createHash, createPublicKey } from 'node:crypto';

/** Kubernetes derives it from the public key. Undefined: the text of the key cannot be read. */
export function tokenKeyId(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    const der = createPublicKey(text).export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(der).digest('base64url');
  } catch {
    return undefined;
  }
}
