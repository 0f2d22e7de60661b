/** The Go program that is all of the control plane, as it comes with our package. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SOURCE_FILES = ['go.mod', 'go.sum', 'main.go'] as const;

/** Lies next to this file in the checkout, and next to its JavaScript in the package. */
export const SOURCE_FOLDER = fileURLToPath(new URL('./kube-binary', import.meta.url));

export async function sourceDigest(folder = SOURCE_FOLDER): Promise<string> {
  const hash = createHash('sha256');
  for (const name of SOURCE_FILES) hash.update(await readFile(join(folder, name))).update('\0');
  return hash.digest('hex');
}
