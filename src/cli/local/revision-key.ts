/** Creates the key with which `kubenode sync` seals the revisions that it keeps, where there is none. */
import { ANNOTATION_SECRET_USE, NAMESPACE, SECRET_REVISIONS } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

const KEY_BYTES = 32;

/**
 * An existing key is never replaced: what was sealed with it could not be opened any more. Returns why there is none, if this user may
 * not create it: everything but `kubenode rollback` works without it.
 */
export async function createRevisionKey(
  client: Client,
  randomBytes: (bytes: number) => Uint8Array,
): Promise<string | undefined> {
  try {
    await client.create(SECRETS, secretWith(randomBytes(KEY_BYTES)));
    return undefined;
  } catch (error) {
    if (isKubeError(error, 'AlreadyExists')) return undefined;
    if (!isKubeError(error, 'Forbidden')) throw error;
    return `no key for \`kubenode rollback\` was created: ${error.message}. Ask for the right to create Secrets in ${NAMESPACE}`;
  }
}

function secretWith(key: Uint8Array): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: SECRET_REVISIONS,
      namespace: NAMESPACE,
      annotations: { [ANNOTATION_SECRET_USE]: 'revisions' },
    },
    // The value is text, as that of every other Secret that sync reads.
    stringData: { key: Buffer.from(key).toString('base64') },
  };
}
