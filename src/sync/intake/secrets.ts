/** Reads the secrets of the webhook of a Pipeline. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { readSecret, SecretError } from '../../api/secrets/read.ts';
import { secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';

/** A shorter one can be guessed by a program that sees one signed delivery. */
const MIN_LENGTH = 16;

/**
 * Returns the secrets, one of each line, so that a new one can be added before the git host uses it. Undefined: the Pipeline has no
 * webhook. Throws SecretError.
 */
export function readHookSecrets(
  pipeline: Pipeline,
  secrets: Pick<Store, 'get'>,
): readonly string[] | undefined {
  const reference = secretReferences(PIPELINES.kind, pipeline).find(({ use }) => use === 'git-webhook');
  if (!reference) return undefined;
  const lines = readSecret(secrets, reference, 'nowhere').split('\n');
  const found = lines.map((line) => line.trim()).filter((line) => line !== '');
  if (found.length > 0 && found.every((line) => line.length >= MIN_LENGTH)) return found;
  const { name, key, user } = reference;
  throw new SecretError(
    `key ${key} of Secret ${name}, which ${user} references, is not a webhook secret: expected at least ${MIN_LENGTH} characters in each line`,
  );
}

/** Returns why the webhook of a Pipeline cannot be used; undefined: it can, or there is none. */
export function hookSecretReason(pipeline: Pipeline, secrets: Pick<Store, 'get'>): string | undefined {
  try {
    readHookSecrets(pipeline, secrets);
    return undefined;
  } catch (error) {
    if (error instanceof SecretError) return error.message;
    throw error;
  }
}
