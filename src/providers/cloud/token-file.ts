/** Reads the token that the cluster gives to the pod, for an exchange against credentials of a cloud. */
import { readFile } from 'node:fs/promises';
import { systemCode } from '../../os/errors.ts';
import { ProviderError } from '../contract.ts';

/** `variable` names the file. Throws Auth when it cannot be read, and never quotes it. */
export async function readTokenFile(variable: string, file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const why = systemCode(error) ?? 'unknown error';
    const message = `${variable} cannot be read: ${why}. Mount the token of the service account at ${file}`;
    throw new ProviderError('Auth', message, { reason: 'NoCredentials' });
  }
}
