/** What Secrets of the hub say, as values; each error names the Secret, the key and the way out. */
import { NAMESPACE } from '../../api/names.ts';
import type { Store } from '../../kube/cache/store.ts';
import { textAt } from '../../kube/objects/json.ts';

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

export class MissingSecret extends Error {
  override readonly name = 'MissingSecret';
}

export function secretValue(secrets: Store, { name, key }: SecretRef, wantedBy: string): string {
  const secret = secrets.get({ name, namespace: NAMESPACE });
  const where = `Secret ${NAMESPACE}/${name}`;
  if (!secret) {
    throw new MissingSecret(`${wantedBy} needs ${where}, and it is not there: create it with the key ${key}`);
  }
  const encoded = textAt(secret, 'data', key);
  if (encoded === undefined) {
    throw new MissingSecret(`${wantedBy} needs the key ${key} in ${where}, and it has none of that name`);
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** Changes whenever what the reference stands for does. */
export function secretVersion(secrets: Store, { name }: SecretRef): string {
  const metadata = secrets.get({ name, namespace: NAMESPACE })?.metadata;
  return `${metadata?.uid ?? ''}/${metadata?.resourceVersion ?? ''}`;
}
