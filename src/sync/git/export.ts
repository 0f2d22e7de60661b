/** Writes the files of a commit into a folder, for a render to read. Links and submodules are left out. */
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
  // A link may lead out of the folder, alone or together with another one: no rule over their text is worth the risk.
  const plain = files.filter(({ type }) => type === 'file' || type === 'executable');
  if (plain.length > limits.maxFiles) throw over('files', plain.length, limits.maxFiles);
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const folders = new Set<string>();
  let bytes = 0;
  for (const { path, oid } of plain) {
    if (timeout.aborted) throw tooSlow(limits.timeoutMs, path);
    const { content } = await readRequired(reader, oid);
    bytes += content.byteLength;
    if (bytes > limits.maxBytes) throw over('bytes', bytes, limits.maxBytes);
    const target = join(folder, path);
    if (!folders.has(dirname(target))) {
      await mkdir(dirname(target), { recursive: true });
      folders.add(dirname(target));
    }
    // wx: on a file system that folds case, two names may be one file; the second must not win silently.
    await writeFile(target, content, { flag: 'wx', mode: 0o644 });
  }
  return { files: plain.length, bytes, skipped: files.filter((file) => !plain.includes(file)) };
}

function over(what: string, found: number, allowed: number): GitError {
  return new GitError(
    'TooLarge',
    `the commit holds more than a render may read: ${found} ${what}, allowed: ${allowed}`,
    {
      hint: 'keep large files and other code out of the fleet repository',
    },
  );
}

function tooSlow(timeoutMs: number, path: string): GitError {
  return new GitError('Timeout', `the files of the commit were not written within ${timeoutMs / 1000} s`, {
    where: path,
    hint: 'keep the fleet repository small, or look at the disk',
  });
}
