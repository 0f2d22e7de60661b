/** Decrypts what a commit renders encrypted, for one reconcile or one check: nothing keeps the values. */
import { SecretError } from '../api/secrets/read.ts';
import type { AgeKeys } from '../kube/sops/age-keys.ts';
import { type Decrypted, decryptObject } from '../kube/sops/decrypt.ts';
import { isSopsEncrypted } from '../kube/sops/leaves.ts';
import { SopsError } from '../kube/sops/values.ts';
import type { RenderedObject } from './rendered.ts';

/** The keys of one Pipeline, as its Secret has them now. */
export interface DecryptionKeys {
  /** Differs after every change of the keys. */
  readonly version: string;
  /** Rejects with a SecretError or a SopsError when a person has to act. */
  read(): Promise<AgeKeys>;
}

/** The result for each encrypted object that was asked for. */
export type DecryptedObjects = ReadonlyMap<RenderedObject, Decrypted>;

/** Ignores objects that are not encrypted: without an encrypted one, no key is read. */
export async function decryptObjects(
  objects: Iterable<RenderedObject>,
  keys: DecryptionKeys,
): Promise<DecryptedObjects> {
  const decrypted = new Map<RenderedObject, Decrypted>();
  let read: Promise<AgeKeys | { readonly problem: string }> | undefined;
  for (const rendered of objects) {
    if (!isSopsEncrypted(rendered.object)) continue;
    const found = await (read ??= readKeys(keys));
    decrypted.set(rendered, 'problem' in found ? found : await decryptObject(rendered.object, found));
  }
  return decrypted;
}

async function readKeys(keys: DecryptionKeys): Promise<AgeKeys | { readonly problem: string }> {
  try {
    return await keys.read();
  } catch (error) {
    if (error instanceof SecretError || error instanceof SopsError) return { problem: error.message };
    throw error;
  }
}
