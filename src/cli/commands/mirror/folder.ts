/** A mirror in a folder, which any server of static files serves: each file is named by its SHA-256. */
import { chmod, mkdir, realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../../agent/host/disk/unpack.ts';
import { systemCode } from '../../../os/errors.ts';
import { PUBLIC_MODE, sha256OfFile, toDiskError } from '../../../os/files.ts';
import type { MirrorTarget } from './target.ts';

/** A name that begins with a dot: servers of files do not list it, and no artifact has it. */
const PARTIAL_FOLDER = '.partial';

export async function openMirrorFolder(folder: string): Promise<MirrorTarget> {
  const partial = join(folder, PARTIAL_FOLDER);
  await mkdir(partial, { recursive: true }).catch((error: unknown) => {
    throw toDiskError(error, folder);
  });
  return {
    url: undefined,
    partialFolder: await realpath(partial),
    async has(sha256) {
      // A disk may have changed it, or a copy of the folder may have ended early: then it is replaced.
      return (await digestOf(join(folder, sha256))) === sha256;
    },
    async put(sha256, file) {
      // The server of the folder is another user.
      await chmod(file, PUBLIC_MODE);
      await rename(file, join(folder, sha256));
      await syncPath(folder);
    },
  };
}

async function digestOf(file: string): Promise<string | undefined> {
  try {
    return await sha256OfFile(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw toDiskError(error, file);
  }
}
