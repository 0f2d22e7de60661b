/** Writes the Secret with all keys of a control plane, by compare-and-swap: of two controllers at once, the second decides again on what the first wrote. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../../kube/client/errors.ts';
import { CONFIG_MAPS, SECRETS } from '../../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { HostingError } from '../../../errors.ts';
import type { PlaneOwner } from '../../driver.ts';
import type { FoundPlane } from '../hub.ts';
import { KEYS_SECRET, planeNamespace, RECORD } from '../names.ts';
import type { KeyFiles } from '../pki/keys.ts';
import { lostNeededKeys } from '../pki/rotation.ts';
import { keyFilesOf, keysObject } from '../pki/secrets.ts';
import type { WorkloadRecord } from '../record.ts';
import { parseWorkloadRecord } from '../record-object.ts';
import { AS_HOSTING } from './record.ts';

const ATTEMPTS = 5;

export interface StoredKeys {
  readonly files: KeyFiles;
  /** The record that the files were decided by. */
  readonly record: WorkloadRecord;
}

/**
 * Returns the keys as they are after the change. The record is read after the Secret, and each step records its phase before it writes keys: so a
 * Secret that is still the one that was read has no key of a later step, and keys of others are neither overwritten nor removed.
 */
export async function storeKeys(
  client: Client,
  { name }: Pick<PlaneOwner, 'name'>,
  change: (files: KeyFiles, record: WorkloadRecord) => KeyFiles,
): Promise<StoredKeys> {
  const namespace = planeNamespace(name);
  for (let attempt = 1; ; attempt += 1) {
    const secret = await unlessMissing(client.get(SECRETS, { name: KEYS_SECRET, namespace }));
    const record = parseWorkloadRecord(await client.get(CONFIG_MAPS, { name: RECORD, namespace }));
    const before = secret ? keyFilesOf(secret) : {};
    requireKeysOf({ keys: before, where: `namespace ${namespace}` }, record);
    const files = change(before, record);
    if (isDeepStrictEqual(files, before)) return { files, record };
    const isLast = attempt === ATTEMPTS;
    if (await isWritten(client, keysObject(name, files, secret?.metadata.resourceVersion), isLast)) {
      return { files, record };
    }
  }
}

/** Tells whether the Secret was still the one that was read. */
async function isWritten(client: Client, object: KubeObject, isLast: boolean): Promise<boolean> {
  try {
    if (object.metadata.resourceVersion === undefined) await client.create(SECRETS, object, AS_HOSTING);
    else await client.replace(SECRETS, object, AS_HOSTING);
    return true;
  } catch (error) {
    if (isLast || !isKubeError(error, 'AlreadyExists', 'Conflict')) throw error;
    return false;
  }
}

/** Throws where keys are lost without which nothing can be done. */
export function requireKeysOf(
  { keys, where }: Pick<FoundPlane, 'keys' | 'where'>,
  record: WorkloadRecord,
): void {
  const lost = lostNeededKeys(keys, record);
  if (lost.length === 0) return;
  throw new HostingError('KeysLost', `keys of the control plane are lost: ${lost.join('; ')}`, {
    where,
    hint: `restore them in Secret ${KEYS_SECRET} from a backup, or delete the Cluster and create it again`,
  });
}
