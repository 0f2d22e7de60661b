/** The program of the stand-in kubelet, as one file. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from '../errors.ts';

/** `src/cli/commands/local` in a checkout and `dist/cli/commands/local` in the package have the same depth. */
export const KUBELET_BUNDLE = new URL('../../../dist/bundles/kubelet.mjs', import.meta.url);

export interface KubeletBundle {
  readonly text: string;
  readonly sha256: string;
}

export async function readKubeletBundle(url: URL = KUBELET_BUNDLE): Promise<KubeletBundle> {
  const where = fileURLToPath(url);
  const text = await readFile(where, 'utf8').catch((error: unknown) => {
    throw new CliError('the bundle of the stand-in kubelet does not exist', {
      where,
      hint: 'build it: npm run bundle:kubelet',
      exitCode: EXIT.unavailable,
      cause: error,
    });
  });
  return { text, sha256: createHash('sha256').update(text).digest('hex') };
}
