/** Replaces files of a fleet repository: all of them, or none. */
import { lstat, readFile } from 'node:fs/promises';
import { systemCode } from '../../../../os/errors.ts';
import { toDiskError, writeFileAtomic } from '../../../../os/files.ts';
import { CliError } from '../../../errors.ts';

export interface FileReplacement {
  readonly path: string;
  /** The text that was read: a download takes minutes, in which a person may edit the file. */
  readonly before: string;
  readonly text: string;
}

interface ReadyReplacement extends FileReplacement {
  readonly mode: number;
}

export type WriteFile = (path: string, text: string, mode: number) => Promise<void>;

/** Reads all files again before it writes the first one. When a write fails, those that were written get their text back. */
export async function replaceFiles(
  files: readonly FileReplacement[],
  write: WriteFile = writeFileAtomic,
): Promise<void> {
  const ready: ReadyReplacement[] = [];
  for (const file of files) ready.push({ ...file, mode: await requireUnchanged(file) });
  const written: ReadyReplacement[] = [];
  try {
    for (const file of ready) {
      await write(file.path, file.text, file.mode);
      written.push(file);
    }
  } catch (error) {
    for (const { path, before, mode } of written.toReversed()) await write(path, before, mode);
    throw error;
  }
}

/** Returns the mode of the file, which it keeps. */
async function requireUnchanged({ path, before }: FileReplacement): Promise<number> {
  const found = await readFound(path);
  if (found?.text === before) return found.mode;
  throw new CliError('the file was changed during the download', {
    where: path,
    hint: 'run the command again. Nothing was changed',
  });
}

/** Returns undefined for a file that was removed, and for a link in its place: the target may be outside of the repository. */
async function readFound(
  path: string,
): Promise<{ readonly text: string; readonly mode: number } | undefined> {
  try {
    const stats = await lstat(path);
    return stats.isFile() ? { text: await readFile(path, 'utf8'), mode: stats.mode & 0o777 } : undefined;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, path);
  }
}
