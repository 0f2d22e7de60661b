/** Reads the key of the kept revisions from its Secret in the hub. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { NAMESPACE, SECRET_REVISIONS } from '../../../api/names.ts';
import { readSecret, SecretError } from '../../../api/secrets/read.ts';
import type { Store } from '../../../kube/cache/store.ts';
import { KEY_BYTES } from './sealed-file.ts';

/** Throws a SecretError when a person has to act. */
export function revisionKey(secrets: Pick<Store, 'get'>): KeyObject {
  const reference = { name: SECRET_REVISIONS, key: 'key', use: 'revisions', user: 'kubenode sync' } as const;
  const bytes = Buffer.from(readSecret(secrets, reference, 'nowhere').trim(), 'base64');
  if (bytes.length === KEY_BYTES) return createSecretKey(bytes);
  throw new SecretError(
    `key key of Secret ${NAMESPACE}/${SECRET_REVISIONS} is invalid: expected ${KEY_BYTES} bytes in base64, got ${bytes.length}. Delete the Secret, and run kubenode install`,
  );
}
