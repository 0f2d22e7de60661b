/** Reads the secrets with which the senders of webhooks sign. */
import type { Store } from '../../kube/cache/store.ts';
import { readSecret, SecretError } from './read.ts';
import type { SecretReference } from './references.ts';

/** A shorter one can be guessed by a program that sees one signed delivery. */
const MIN_LENGTH = 16;

/** Returns the secrets, one of each line, so that a new one can be added before its sender uses it. Throws SecretError. */
export function readWebhookSecrets(
  secrets: Pick<Store, 'get'>,
  reference: SecretReference,
): readonly string[] {
  const lines = readSecret(secrets, reference, 'nowhere').split('\n');
  const found = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (found.length > 0 && found.every((line) => line.length >= MIN_LENGTH)) return found;
  const { name, key, user } = reference;
  throw new SecretError(
    `key ${key} of Secret ${name}, which ${user} references, is not a webhook secret: expected at least ${MIN_LENGTH} characters in each line`,
  );
}
