/** Exports a commit for its render. What no retry can change is an error of the commit, like a program that fails. */
import { systemCode } from '../../os/errors.ts';
import { isRefusal } from '../git/errors.ts';
import type { ExportedTree, GitRepository } from '../git/transport.ts';
import { RenderError } from './errors.ts';

/** The file system refuses the path of a file: it exists already, or a name or the path is too long or not valid. */
const REFUSED_PATHS = ['EEXIST', 'ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'EINVAL', 'EILSEQ'];

export async function exportCommit(
  git: GitRepository,
  commit: string,
  folder: string,
): Promise<ExportedTree> {
  try {
    return await git.exportTree(commit, folder);
  } catch (error) {
    if (isRefusal(error)) {
      throw new RenderError('NotExported', [{ message: error.message }], error.hint, error);
    }
    const code = systemCode(error) ?? '';
    if (!REFUSED_PATHS.includes(code)) throw error;
    const path = pathOf(error)?.slice(folder.length + 1, 300) ?? '';
    throw new RenderError(
      'NotExported',
      [{ message: `a file of the commit cannot be written (${code})`, file: path }],
      'rename it: names that differ only in case are one file on some machines, and a name has at most 255 bytes',
      error,
    );
  }
}

function pathOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).path;
}
