/** Reads the age identities of a Pipeline from its Secret. */
import { PIPELINES } from '../../api/generated/resources.ts';
import type { Pipeline } from '../../api/generated/types.ts';
import { NAMESPACE } from '../../api/names.ts';
import { readSecret, SecretError, secretVersion } from '../../api/secrets/read.ts';
import { type SecretReference, secretReferences } from '../../api/secrets/references.ts';
import type { Store } from '../../kube/cache/store.ts';
import { type AgeKeys, readAgeKeys } from '../../kube/sops/age-keys.ts';
import { SopsError } from '../../kube/sops/values.ts';
import type { DecryptionKeys } from '../decrypt-objects.ts';

/** Returns the keys of a Pipeline; those of a Pipeline without a Secret cannot be read. */
export function decryptionKeys(
  name: string,
  pipeline: Pipeline | undefined,
  secrets: Pick<Store, 'get'>,
): DecryptionKeys {
  const references = pipeline ? secretReferences(PIPELINES.kind, pipeline) : [];
  const reference = references.find(({ use }) => use === 'sops');
  if (!reference) {
    const message = `it is encrypted, and Pipeline ${name} has no keys: set spec.source.sopsKeysRef`;
    return {
      version: '',
      async read() {
        throw new SecretError(message);
      },
    };
  }
  return {
    version: JSON.stringify([reference.name, reference.key, secretVersion(secrets, reference)]),
    read: () => readKeys(secrets, reference),
  };
}

async function readKeys(secrets: Pick<Store, 'get'>, reference: SecretReference): Promise<AgeKeys> {
  const text = readSecret(secrets, reference, 'nowhere');
  try {
    return await readAgeKeys(text);
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    const { name, key, user } = reference;
    throw new SecretError(
      `key ${key} of Secret ${NAMESPACE}/${name}, which ${user} references: ${error.message}`,
    );
  }
}
