/** The sources of the Go program that contains the whole control plane, as shipped in this package. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SOURCE_FILES = ['go.mod', 'go.sum', 'main.go'] as const;

/** Beside this file in the checkout, and beside its JavaScript in the package. */
export const SOURCE_FOLDER = fileURLToPath(new URL('./kube-binary', import.meta.url));

export async function digestSource(folder = SOURCE_FOLDER): Promise<string> {
  const hash = createHash('sha256');
  for (const name of SOURCE_FILES) hash.update(await readFile(join(folder, name))).update('\0');
  return hash.digest('hex');
}
