/** Finds the ID of the key that signs tokens of ServiceAccounts, as the header of a token has it. */
import { createHash, createPublicKey } from 'node:crypto';
import { readFileIfExists } from '../../../../../os/files.ts';

/** Kubernetes derives it from the public key. Undefined: the file cannot be read. */
export async function tokenKeyId(path: string): Promise<string | undefined> {
  const text = await readFileIfExists(path);
  if (text === undefined) return undefined;
  try {
    const der = createPublicKey(text).export({ type: 'spki', format: 'der' });
    return createHash('sha256').update(der).digest('base64url');
  } catch {
    return undefined;
  }
}
