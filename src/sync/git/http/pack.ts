import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { GitError } from '../errors.ts';

// A pack ends with the SHA-1 of everything before it.
const TRAILER = 20;

/** isomorphic-git does not verify the digest: it would accept a pack that was truncated between two objects. */
export async function checkPack(path: string): Promise<void> {
  const { size } = await stat(path);
  const hash = createHash('sha1');
  if (size > TRAILER) {
    const body = createReadStream(path, { end: size - TRAILER - 1 });
    for await (const chunk of body as AsyncIterable<Buffer>) hash.update(chunk);
  }
  const digest = hash.digest('hex');
  if (digest === (await trailerOf(path, size)) && basename(path) === `pack-${digest}.pack`) return;
  await rm(path, { force: true });
  await rm(path.replace(/\.pack$/, '.idx'), { force: true });
  throw new GitError('Corrupt', 'the pack that the server sent does not match its digest', {
    hint: 'sync fetches it again. If this persists, run git fsck on the repository',
  });
}

async function trailerOf(path: string, size: number): Promise<string> {
  const file = await open(path);
  try {
    const trailer = Buffer.alloc(TRAILER);
    await file.read(trailer, 0, TRAILER, Math.max(0, size - TRAILER));
    return trailer.toString('hex');
  } finally {
    await file.close();
  }
}

export async function countPacks(gitdir: string): Promise<number> {
  const names = await readdir(join(gitdir, 'objects', 'pack')).catch(() => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}
