/** The temporary folders of exported commits, and the files that are missing there. */
import { createOwnedFolder, removeOwnedFolder } from '../../os/worker/owned-folder.ts';
import { isRenderError, RenderError } from './errors.ts';
import type { SkippedFile } from './folder-export.ts';
import type { RenderResult } from './result.ts';

/** Removes the folders when the work has ended. */
export async function inOwnedFolders<T>(
  purposes: readonly string[],
  work: (folders: readonly string[]) => Promise<T>,
): Promise<T> {
  const folders = await Promise.all(purposes.map(createOwnedFolder));
  try {
    return await work(folders);
  } finally {
    for (const folder of folders) await removeOwnedFolder(folder);
  }
}

/** A skipped file may be the reason why a render fails. */
export async function withSkipped<R extends RenderResult>(
  skipped: readonly SkippedFile[],
  read: () => Promise<R>,
): Promise<R> {
  try {
    const result = await read();
    const warnings = skipped.map(({ path, because }) => `${path} was skipped: ${because}`);
    return { ...result, warnings: [...warnings, ...result.warnings] };
  } catch (error) {
    if (!isRenderError(error) || skipped.length === 0) throw error;
    const problems = skipped.map(({ path, because }) => ({ message: `skipped: ${because}`, file: path }));
    throw new RenderError(error.code, [...error.problems, ...problems], error.hint, error);
  }
}
