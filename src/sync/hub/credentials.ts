/** Reads values from Secrets of the hub. Errors name the Secret and the key. */
import { NAMESPACE } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import { textAt } from '../../kube/objects/json.ts';

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError';
}

/** `user` is the object that references the Secret, for errors. */
export function secretValue(secrets: Store, { name, key }: SecretRef, user: string): string {
  const secret = secrets.get({ name, namespace: NAMESPACE });
  const where = `Secret ${NAMESPACE}/${name}`;
  if (!secret) {
    throw new MissingSecretError(
      `${where}, which ${user} references, does not exist: create it with the key ${key}`,
    );
  }
  const encoded = textAt(secret, 'data', key);
  if (encoded === undefined) {
    throw new MissingSecretError(`${where}, which ${user} references, has no key ${key}: add it`);
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** Differs after every change of the Secret. */
export function secretVersion(secrets: Store, { name }: SecretRef): string {
  const metadata = secrets.get({ name, namespace: NAMESPACE })?.metadata;
  return `${metadata?.uid ?? ''}/${metadata?.resourceVersion ?? ''}`;
}
