/** Decrypts an object that SOPS encrypted, in memory, and verifies its checksum: nothing of an object that was changed is returned. */
import { createHash } from 'node:crypto';
import { isRecord, type JsonRecord, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { truncate } from '../objects/truncate.ts';
import type { AgeKeys } from './age-keys.ts';
import { type Encryption, readEncryption } from './encryption.ts';
import type { LeafPath } from './leaves.ts';
import { secretProblem, sentForm } from './sent-form.ts';
import { checksumText, decryptValue, isEncryptedValue, SopsError, type SopsValue } from './values.ts';

/** `problem`: why it is not decrypted, and what to do. It names fields and public keys, never a value. */
export type Decrypted = { readonly object: KubeObject } | { readonly problem: string };

export async function decryptObject(object: KubeObject, keys: AgeKeys): Promise<Decrypted> {
  const read = readEncryption(object);
  if (read.problem !== undefined) return read;
  try {
    const dataKey = await unwrapDataKey(read.encryption, keys);
    const values = decryptValues(object, read.encryption, dataKey);
    const opened = sentForm(withValues(object, values));
    const problem = secretProblem(opened);
    return problem === undefined ? { object: opened } : { problem };
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    return { problem: error.message };
  }
}

const MAX_SHOWN = 3;
/** A recipient has 62 characters; one that is safe from quantum computers has 1,959. */
const MAX_RECIPIENT = 64;

async function unwrapDataKey({ recipients }: Encryption, keys: AgeKeys): Promise<Uint8Array> {
  const ours = recipients.find(({ recipient }) => keys.recipients.includes(recipient));
  if (ours) return keys.unwrap(ours.enc);
  const expected = shown(recipients.map(({ recipient }) => recipient));
  throw new SopsError(
    `it is encrypted for ${expected}, and sync has the keys of ${shown(keys.recipients)}: ` +
      'add the recipient of sync to .sops.yaml and run `sops updatekeys FILE`, or add the identity to the Secret of sopsKeysRef',
  );
}

function shown(recipients: readonly string[]): string {
  const more = recipients.length - MAX_SHOWN;
  const names = recipients.slice(0, MAX_SHOWN).map((name) => truncate(name, MAX_RECIPIENT));
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the values by their path. Throws if one of them, or the checksum over all, is not what was encrypted. */
function decryptValues(
  object: KubeObject,
  { leaves, mac, lastModified }: Encryption,
  key: Uint8Array,
): ReadonlyMap<string, SopsValue> {
  const values = new Map<string, SopsValue>();
  const checksum = createHash('sha512');
  for (const path of leaves) {
    const value = valueOf(valueAt(object, ...path), path, key);
    values.set(JSON.stringify(path), value);
    checksum.update(checksumText(value));
  }
  const expected = naming('sops.mac', () => decryptValue(mac, key, lastModified));
  if (expected !== checksum.digest('hex').toUpperCase()) {
    throw new SopsError(
      'its checksum differs (sops.mac): it was changed without sops, or by the program. Change it with `sops edit`, and read the file unchanged',
    );
  }
  return values;
}

function valueOf(value: unknown, path: LeafPath, key: Uint8Array): SopsValue {
  if (isEncryptedValue(value)) {
    return naming(path.join('.'), () => decryptValue(value, key, contextOf(path)));
  }
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  throw new SopsError(`${path.join('.')}: expected a value`);
}

/** SOPS does not count the items of lists. */
function contextOf(path: LeafPath): string {
  return path
    .filter((step) => typeof step === 'string')
    .map((step) => `${step}:`)
    .join('');
}

function naming<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SopsError)) throw error;
    throw new SopsError(`${field} cannot be decrypted: ${error.message}`);
  }
}

function withValues(object: KubeObject, values: ReadonlyMap<string, SopsValue>): KubeObject {
  return { ...object, ...recordWithValues(object, [], values) };
}

function recordWithValues(
  record: JsonRecord,
  path: LeafPath,
  values: ReadonlyMap<string, SopsValue>,
): JsonRecord {
  const fields = Object.entries(record).map(([key, item]) => [key, valueWith(item, [...path, key], values)]);
  return Object.fromEntries(fields) as JsonRecord;
}

function valueWith(value: unknown, path: LeafPath, values: ReadonlyMap<string, SopsValue>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => valueWith(item, [...path, index], values));
  return isRecord(value)
    ? recordWithValues(value, path, values)
    : (values.get(JSON.stringify(path)) ?? value);
}
