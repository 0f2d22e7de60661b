/** Refuses encrypted objects that sync could not decrypt with any key, and values that would be sent encrypted. Pure. */
import { GROUP } from '../../api/names.ts';
import { isRecord } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { objectIdOf } from '../../kube/objects/object-id.ts';
import { isSecret, SECRET_FIELDS } from '../../kube/objects/redact-secret.ts';
import { readEncryption } from '../../kube/sops/encryption.ts';
import { isSopsEncrypted } from '../../kube/sops/leaves.ts';
import { isEncryptedValue } from '../../kube/sops/values.ts';
import { isCrdId } from '../protected-kinds.ts';

export function encryptionProblems(object: KubeObject): string[] {
  if (!isSopsEncrypted(object)) return encryptedValues(object);
  const { problem } = readEncryption(object);
  return [...checkedKind(object), ...(problem === undefined ? [] : [problem])];
}

/** A commit is judged before anything is decrypted. */
function checkedKind(object: KubeObject): string[] {
  const isChecked = object.apiVersion.startsWith(`${GROUP}/`) || isCrdId(objectIdOf(object));
  return isChecked
    ? [
        `an encrypted ${object.kind} cannot be checked: move what is secret to a Secret, and encrypt only that`,
      ]
    : [];
}

/** Workloads would get the encrypted text in place of the value. */
function encryptedValues(object: KubeObject): string[] {
  if (!isSecret(object)) return [];
  return SECRET_FIELDS.flatMap((field) => {
    const values = object[field];
    const found = isRecord(values)
      ? Object.entries(values).find(([, value]) => isEncryptedValue(value))
      : undefined;
    return found
      ? [`${field}.${found[0]} is encrypted, and sops.mac is missing: keep the metadata of the file`]
      : [];
  });
}
