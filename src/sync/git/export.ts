/** Writes the files of a commit into a folder, for a render. Skips symlinks and submodules. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GitError } from './errors.ts';
import type { ExportedTree, ExportLimits, ObjectReader, TreeFile } from './transport.ts';
import { readRequired } from './tree.ts';

export const EXPORT_LIMITS: ExportLimits = {
  maxFiles: 20_000,
  maxBytes: 256 * 1024 * 1024,
  timeoutMs: 60_000,
};

export async function exportFiles(
  reader: ObjectReader,
  files: readonly TreeFile[],
  folder: string,
  limits: ExportLimits,
): Promise<ExportedTree> {
  // A symlink may point outside of the folder, alone or through another one. Checking their targets is not worth the risk.
  const regular = files.filter(({ type }) => type === 'file' || type === 'executable');
  if (regular.length > limits.maxFiles) throw exportTooLarge('files', regular.length, limits.maxFiles);
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, oid } of regular) {
    if (timeout.aborted) throw tooSlow(limits.timeoutMs, path);
    const { content } = await readRequired(reader, oid);
    bytes += content.byteLength;
    if (bytes > limits.maxBytes) throw exportTooLarge('bytes', bytes, limits.maxBytes);
    const target = join(folder, path);
    if (!folders.has(dirname(target))) {
      await mkdir(dirname(target), { recursive: true });
      folders.add(dirname(target));
    }
    // wx: on a case-insensitive file system two names may be one file; the second must not overwrite the first.
    await writeFile(target, content, { flag: 'wx', mode: 0o644 });
  }
  return { files: regular.length, bytes, skipped: files.filter((file) => !regular.includes(file)) };
}

export function exportTooLarge(unit: string, found: number, allowed: number): GitError {
  return new GitError(
    'TooLarge',
    `the repository is too large for a render: expected at most ${allowed} ${unit}, found ${found}`,
    {
      hint: 'keep large files and other code out of the fleet repository',
    },
  );
}

function tooSlow(timeoutMs: number, path: string): GitError {
  return new GitError(
    'Timeout',
    `the files of the commit could not be written within ${timeoutMs / 1000} s`,
    {
      where: path,
      hint: 'keep the fleet repository small, or check the disk',
    },
  );
}
