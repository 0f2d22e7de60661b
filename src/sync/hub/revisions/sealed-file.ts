/**
 * Seals bytes with a key, and opens them again: AES-256-GCM. What was changed, was sealed with another key or under another name is
 * not opened.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** AES-256 needs a key of this many bytes. */
export const KEY_BYTES = 32;

const ALGORITHM = 'aes-256-gcm';
const MAGIC = Buffer.from('kubenode-sealed-1\n');
const [IV_BYTES, TAG_BYTES] = [12, 16];
const HEADER_BYTES = MAGIC.length + IV_BYTES + TAG_BYTES;
/** A damaged file cannot expand without limit: it is not opened at all. The render of a commit has at most 128 MiB. */
const MAX_CONTENT_BYTES = 256 * 1024 * 1024;

const [compress, expand] = [promisify(gzip), promisify(gunzip)];

/** `random` returns that many random bytes. An IV must never be used twice with one key. */
export async function sealBytes(
  key: KeyObject,
  name: string,
  content: Uint8Array,
  random: (bytes: number) => Uint8Array,
): Promise<Buffer> {
  const iv = random(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(name));
  const sealed = [cipher.update(await compress(content)), cipher.final()];
  return Buffer.concat([MAGIC, iv, cipher.getAuthTag(), ...sealed]);
}

/** Returns the content. Undefined for bytes that were not sealed with this key under this name. */
export async function openBytes(key: KeyObject, name: string, file: Buffer): Promise<Buffer | undefined> {
  if (file.length < HEADER_BYTES || !file.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const [ivEnd, tagEnd] = [MAGIC.length + IV_BYTES, HEADER_BYTES];
  const iv = file.subarray(MAGIC.length, ivEnd);
  const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(name))
    .setAuthTag(file.subarray(ivEnd, tagEnd));
  try {
    const opened = Buffer.concat([decipher.update(file.subarray(tagEnd)), decipher.final()]);
    return await expand(opened, { maxOutputLength: MAX_CONTENT_BYTES });
  } catch {
    return undefined;
  }
}
