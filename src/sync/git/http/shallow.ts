/** Git's `shallow` file: commits whose parents were not fetched. Both backends maintain it. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function readShallow(gitdir: string): Promise<ReadonlySet<string>> {
  try {
    const text = await readFile(join(gitdir, 'shallow'), 'utf8');
    return new Set(text.split('\n').filter((line) => line !== ''));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw error;
  }
}

export async function writeShallow(gitdir: string, oids: ReadonlySet<string>): Promise<void> {
  const path = join(gitdir, 'shallow');
  if (oids.size > 0) await writeFile(path, `${[...oids].join('\n')}\n`);
  else await rm(path, { force: true });
}
